import type { Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import { type FailureClass, SendingError } from './failure.ts'
import { lookupWith, NameCache } from './name-cache.ts'
import { askSystem } from './name-servers.ts'

/** Opens a connection to `host:port` on the other side of a proxy. Throws `SendingError`. */
export type OpenTunnel = (target: string) => Promise<Socket>

const ANSWERED_WITHIN_MS = 10_000

/** The statuses by which a proxy reports a problem of the target. All others are problems of the proxy itself. */
const CLASS_OF_STATUS: Readonly<Record<number, FailureClass>> = { 403: 'blocked', 504: 'timeout' }

/**
 * Tunnels through a trusted proxy by CONNECT (OP-99): its address is not checked. Errors name neither its address nor
 * its credentials, since the receiver's owner reads them.
 */
export function tunnelThrough(proxy: URL, answeredWithinMs = ANSWERED_WITHIN_MS): OpenTunnel {
  const lookup = lookupWith(new NameCache(askSystem).find)
  // Twice the time: it ends a connection that nobody waits for any more.
  const direct = buildConnector({ allowH2: false, timeout: 2 * answeredWithinMs, lookup })
  // Without the server name, which undici takes from the Host header: the certificate is that of the proxy.
  const connect: buildConnector.connector = ({ servername: _, ...options }, callback) => direct(options, callback)
  const authorization = basicAuthorization(proxy)
  return async (target) => {
    const signal = AbortSignal.timeout(answeredWithinMs)
    const { statusCode, socket } = await new Client(proxy.origin, { connect, allowH2: false })
      .connect({ path: target, headers: { host: target, ...authorization }, signal })
      .catch((cause: Error) => {
        if (!signal.aborted) throw new SendingError('connection', 'the egress proxy cannot be reached', { cause })
        throw new SendingError('timeout', `the egress proxy did not answer within ${answeredWithinMs} ms`)
      })
    if (statusCode === 200) return socket as Socket
    socket.destroy()
    throw new SendingError(CLASS_OF_STATUS[statusCode] ?? 'connection', `the egress proxy answered ${statusCode}`)
  }
}

function basicAuthorization({ username, password }: URL): { 'Proxy-Authorization'?: string } {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'Proxy-Authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}
