import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { targetNames } from './name-servers.ts'
import { hostOf, isAllowedAddress, type TargetPolicy } from './target-address.ts'

/** Finds a name's addresses; empty when it has none now. */
export type Resolve = (name: string) => Promise<readonly string[]>

const RESOLVED_WITHIN_MS = 2000

/** Resolves a name in the same way as connections, in two seconds at most. */
export const resolveName: Resolve = (name) =>
  Promise.race([targetNames.find(name).catch(() => []), pause(RESOLVED_WITHIN_MS, [], { ref: false })])

/** Whether a URL leads to a forbidden address (OP-70); a name without one now is checked by each connection. */
export async function isForbiddenTarget(url: URL, policy: TargetPolicy, resolve: Resolve): Promise<boolean> {
  const host = hostOf(url.hostname)
  const addresses = isIP(host) ? [host] : await resolve(host)
  return !addresses.every((address) => isAllowedAddress(address, policy))
}

/** Throws `unprocessable` for what `isForbiddenTarget` finds. */
export async function refuseForbiddenTarget(
  { url, path }: { readonly url: URL; readonly path: MemberPath },
  policy: TargetPolicy,
  resolve: Resolve,
): Promise<void> {
  if (await isForbiddenTarget(url, policy, resolve)) throw unprocessable(path, notPublic(url), 'forbidden_target')
}

/** What is wrong with the host of a forbidden target. */
export const notPublic = ({ hostname }: URL): string => `${hostOf(hostname)} is not a public address`
