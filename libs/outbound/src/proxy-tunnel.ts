import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { type FailureClass, SendingError } from './failure.ts'
import { lookupWith, NameCache } from './name-cache.ts'
import { askSystem } from './name-servers.ts'
import { hostOf } from './target-address.ts'

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
  const request = proxy.protocol === 'https:' ? httpsRequest : httpRequest
  const names = new NameCache(askSystem)
  const through = {
    method: 'CONNECT',
    host: hostOf(proxy.hostname),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    lookup: lookupWith(names.find),
    agent: false,
  }
  const authorization = basicAuthorization(proxy)
  return (target) =>
    new Promise((resolve, reject) => {
      const asking = request({ ...through, path: target, headers: { Host: target, ...authorization } })
      const answerTimer = setTimeout(() => {
        asking.destroy(new SendingError('timeout', `the egress proxy did not answer within ${answeredWithinMs} ms`))
      }, answeredWithinMs)
      asking.once('close', () => clearTimeout(answerTimer))
      asking.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
        clearTimeout(answerTimer)
        if (statusCode === 200) {
          if (head.length > 0) socket.unshift(head)
          return resolve(socket)
        }
        socket.destroy()
        reject(new SendingError(CLASS_OF_STATUS[statusCode] ?? 'connection', `the egress proxy answered ${statusCode}`))
      })
      asking.on('error', (cause) => {
        reject(cause instanceof SendingError ? cause : unreachable(cause))
      })
      asking.end()
    })
}

const unreachable = (cause: Error) => new SendingError('connection', 'the egress proxy cannot be reached', { cause })

function basicAuthorization({ username, password }: URL): { 'Proxy-Authorization'?: string } {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'Proxy-Authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}
