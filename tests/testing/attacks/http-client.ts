import { Agent, request } from 'node:http'
import { FORM } from '@backoffice/testing/form.ts'

/** Another loopback address than that of other clients, since limits count by the client's address. */
export const ATTACKER_ADDRESS = '127.0.0.2'

export interface Answer {
  /** 0 when the connection broke. */
  readonly status: number
  readonly text: string
}

/** Sends requests from the attacker's address over as many connections as there are requests under way. */
export function httpClient(origin: string) {
  const agent = new Agent({ keepAlive: true, localAddress: ATTACKER_ADDRESS } as ConstructorParameters<typeof Agent>[0])
  return (method: string, path: string, headers: Record<string, string>, body?: string | Buffer): Promise<Answer> =>
    new Promise((resolve) => {
      const gone = () => resolve({ status: 0, text: '' })
      const type = Buffer.isBuffer(body) ? FORM : 'application/json'
      const framing = body && { 'content-type': type, 'content-length': Buffer.byteLength(body) }
      const sent = request(new URL(path, origin), { method, agent, headers: { ...headers, ...framing } })
      sent.on('error', gone)
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', gone)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
      })
      sent.end(body)
    })
}
