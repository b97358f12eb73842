import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import { z } from 'zod'
import { targetNames } from '../sending/name-servers.ts'
import {
  hostOf,
  isAllowedAddress,
  isAllowedPort,
  isLookupName,
  isLoopbackHost,
  type TargetPolicy,
} from '../sending/target-address.ts'

const MAX_LENGTH = 2048
/** Refuses spaces, backslashes and missing slashes, which `new URL` would correct silently. */
const WRITTEN_OUT = /^https?:\/\/[^\s\\]+$/i
/** Also matches empty credentials, which `new URL` leaves out. */
const CREDENTIALS = /^https?:\/\/[^/?#]*@/i

/** An endpoint's URL: absolute https without credentials, or http to loopback where that is allowed (OP-70, OP-99). */
export const endpointUrl = (policy: TargetPolicy) =>
  z
    .string()
    .max(MAX_LENGTH)
    .superRefine((text, context) => {
      const url = WRITTEN_OUT.test(text) ? URL.parse(text) : null
      if (url === null || !hasReachableHost(url)) {
        return void context.addIssue('must be a URL such as https://example.com/webhooks')
      }
      const mayBeHttp = policy.allowLoopback && isLoopbackHost(url.hostname)
      if (url.protocol !== 'https:' && !mayBeHttp) context.addIssue('must be an https URL')
      if (CREDENTIALS.test(text)) context.addIssue('must not contain a user name or password')
      if (!isAllowedPort(url.hostname, url.port, policy)) {
        context.addIssue('must use port 443, or one from 1024 that no other protocol has')
      }
    })

const hasReachableHost = ({ hostname }: URL): boolean => isIP(hostOf(hostname)) !== 0 || isLookupName(hostname)

/** Finds a name's addresses; empty when it has none now. */
export type Resolve = (name: string) => Promise<readonly string[]>

const RESOLVED_WITHIN_MS = 2000

/** Resolves a name in the same way as connections, in two seconds at most. */
export const resolveName: Resolve = (name) =>
  Promise.race([targetNames.find(name).catch(() => []), pause(RESOLVED_WITHIN_MS, [], { ref: false })])

/**
 * Throws `unprocessable` for a target with a forbidden address (OP-70). A name that does not resolve now is accepted:
 * each connection checks the addresses again.
 */
export async function refuseForbiddenTarget(url: URL, policy: TargetPolicy, resolve: Resolve): Promise<void> {
  const host = hostOf(url.hostname)
  const addresses = isIP(host) ? [host] : await resolve(host)
  if (addresses.every((address) => isAllowedAddress(address, policy))) return
  throw unprocessable(['url'], `${host} is not a public address`)
}
