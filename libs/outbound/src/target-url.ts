import { isIP } from 'node:net'
import { z } from 'zod'
import { hostOf, isAllowedPort, isLookupName, isLoopbackHost, type TargetPolicy } from './target-address.ts'

const MAX_LENGTH = 2048
/** Refuses spaces, backslashes, control characters and missing slashes, which `new URL` would correct silently. */
const WRITTEN_OUT = /^https?:\/\/[^\s\\\p{Cc}\p{Cs}]+$/iu
/** Also matches empty credentials, which `new URL` leaves out. */
const CREDENTIALS = /^https?:\/\/[^/?#]*@/i
/** Nothing follows the host and port but, perhaps, the one slash that `new URL` writes after an origin. */
const ORIGIN_ONLY = /^https?:\/\/[^/?#]*\/?$/i

/** A URL to send to: absolute https without credentials, or http to loopback where that is allowed (OP-70, OP-99). */
export const targetUrl = (policy: TargetPolicy) => urlLike('https://example.com/webhooks', policy)

/** An origin to send to: as `targetUrl`, without path, query and fragment. The output has the form of `URL.origin`. */
export const targetOrigin = (policy: TargetPolicy) =>
  urlLike('https://example.com', policy)
    .refine((text) => ORIGIN_ONLY.test(text), 'must be an origin, without a path, query or fragment')
    .transform((text) => new URL(text).origin)

const urlLike = (example: string, policy: TargetPolicy) =>
  z
    .string()
    .max(MAX_LENGTH)
    .superRefine((text, context) => {
      const url = WRITTEN_OUT.test(text) ? URL.parse(text) : null
      if (url === null || !hasReachableHost(url)) {
        return void context.addIssue({ code: 'custom', message: `must be a URL such as ${example}`, continue: false })
      }
      const mayBeHttp = policy.allowLoopback && isLoopbackHost(url.hostname)
      if (url.protocol !== 'https:' && !mayBeHttp) context.addIssue('must be an https URL')
      if (CREDENTIALS.test(text)) context.addIssue('must not contain a user name or password')
      if (!isAllowedPort(url.hostname, url.port, policy)) {
        context.addIssue('must use port 443, or one from 1024 that no other protocol has')
      }
    })

const hasReachableHost = ({ hostname }: URL): boolean => isIP(hostOf(hostname)) !== 0 || isLookupName(hostname)
