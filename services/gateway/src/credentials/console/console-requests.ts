import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { invalidApiKey } from '../bearer-token.ts'
import { cookiesOf } from '../cookies.ts'
import { isOfOtherSite } from '../other-site.ts'

/** The two kinds of sessions, by the names of their cookies. */
export type SessionKind = 'console' | 'operator'

interface Listener {
  /** The gateway's address, as browsers see it. */
  readonly publicUrl: URL
  /** The APIs that the listener has. Operators may reach one of its own by any name. */
  readonly has: 'both' | 'v1' | 'admin'
}

const TARGETS = {
  both: /^\/console\/api(\/v1|\/admin\/v1)(?=[/?]|$)/,
  v1: /^\/console\/api(\/v1)(?=[/?]|$)/,
  admin: /^\/console\/api(\/admin\/v1)(?=[/?]|$)/,
} as const
const CONSOLE_API = /^\/console\/api(?=[/?]|$)/
const TOKEN = /^(?:cs|ss)_/
const READS = ['GET', 'HEAD']

/**
 * The requests of the console: `/console/api/v1/…` is `/v1/…` by the session of a cookie, and `/console/api/admin/v1/…`
 * is `/admin/v1/…` by that of an operator. A request is one of them, or one by a key, never both (OP-309).
 */
export function consoleRequests({ publicUrl, has }: Listener) {
  const isSecure = publicUrl.protocol === 'https:'
  const requests = new WeakSet<IncomingMessage>()
  const nameOf = (kind: SessionKind) => `${isSecure ? '__Host-' : ''}${kind}`

  /** The text of a session's cookie; undefined without one. Throws `invalid_api_key` for two that differ. */
  function cookie(headers: IncomingHttpHeaders, kind: SessionKind): string | undefined {
    const [text, ...others] = new Set(cookiesOf(headers, nameOf(kind)))
    if (others.length > 0)
      throw invalidApiKey(`Cookie: has two different ${nameOf(kind)}; delete the cookies of this site`)
    return text === '' ? undefined : text
  }

  return {
    /** Reads the target of a request, before it is routed. */
    read(request: IncomingMessage): void {
      const target = request.url ?? ''
      if (!CONSOLE_API.test(target)) return
      requests.add(request)
      request.url = target.replace(TARGETS[has], '$1')
    },
    has: (request: IncomingMessage): boolean => requests.has(request),
    /** As `cookie`, of a request that is not looked at further. */
    firstCookie: (headers: IncomingHttpHeaders, kind: SessionKind): string | undefined =>
      cookiesOf(headers, nameOf(kind))[0],
    /**
     * Refuses what another site may have made the browser send. A page of another site cannot set this header without
     * asking first, which nobody answers. Throws `insufficient_scope`.
     */
    refuseForged({ method = '', headers }: IncomingMessage): void {
      if (headers['x-requested-with'] !== 'console') {
        throw new ApiError('insufficient_scope', 'X-Requested-With: must be console; the pages of the console send it')
      }
      const isOurOrigin = (origin: string) =>
        has === 'admin' ? URL.parse(origin)?.host === headers.host : origin === publicUrl.origin
      if (!READS.includes(method) && isOfOtherSite(headers, isOurOrigin)) {
        throw new ApiError(
          'insufficient_scope',
          `Origin: must be ${has === 'admin' ? 'that of this host' : publicUrl.origin}; open the console there`,
        )
      }
    },
    /**
     * Refuses what a page of one workspace sends after another tab has signed in to another, such as the live one
     * instead of the sandbox: the browser has one cookie for both. Throws `invalid_api_key`.
     */
    refuseOtherWorkspace({ headers }: IncomingMessage, workspaceId: string): void {
      const shown = headers['x-console-workspace']
      if (shown !== undefined && shown !== workspaceId)
        throw invalidApiKey('This browser has signed in to another workspace meanwhile; load the page again')
    },
    cookie,
    /**
     * The token that opens a request of the console. Throws `invalid_api_key` when it is missing, when it is another
     * credential, and when the request carries a key, too.
     */
    token({ headers }: IncomingMessage, kind: SessionKind): string {
      if (headers.authorization !== undefined || headers['x-api-key'] !== undefined) {
        throw invalidApiKey('The console takes the session of its cookie; send no API key')
      }
      const text = cookie(headers, kind)
      if (text === undefined || !TOKEN.test(text)) throw invalidApiKey('Log in to the console first', 'key_missing')
      return text
    },
    /** The header that gives a browser a session for so many seconds, or takes it with zero. */
    setCookie: (kind: SessionKind, text: string, seconds: number): string =>
      `${nameOf(kind)}=${text}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,
  }
}
export type ConsoleRequests = ReturnType<typeof consoleRequests>
