import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** A webhook endpoint's server that notes when each event arrived. */
export interface EndpointReceiver {
  readonly url: string
  /** `performance.now()` of each arrival, by event id. */
  readonly arrivals: ReadonlyMap<string, readonly number[]>
  /** From now on answers 200 at once, and so what it has left without an answer. */
  recover(): void
}

/** How a receiver answers, or does not. */
export type Behaviour = (response: ServerResponse) => void

const TICK_MS = 100
const FLAP_MS = 1000
const GIGABYTE = 1_000_000_000
const PART = Buffer.alloc(64 * 1024, 'x')

const ok: Behaviour = (response) => response.writeHead(200).end()

/** What receivers do that do not behave. */
export const MISBEHAVIOURS = {
  hang: () => undefined,
  reset: ({ socket }) => socket?.resetAndDestroy(),
  closeEarly: ({ socket }) => socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
  answerByteByByte(response) {
    response.writeHead(200, { 'content-length': 1000 })
    const bytes = setInterval(() => response.write('x'), TICK_MS)
    response.on('close', () => clearInterval(bytes))
  },
  sendAGigabyte(response) {
    response.writeHead(200, { 'content-length': GIGABYTE })
    const send = () => {
      while (!response.destroyed && response.write(PART));
    }
    response.on('drain', send)
    send()
  },
} satisfies Record<string, Behaviour>

/** A receiver that behaves in some way until it recovers; well unless told. */
export async function startEndpointReceiver(behaviour = ok): Promise<EndpointReceiver> {
  const open = new Set<ServerResponse>()
  let answer = behaviour
  const { arrivals, url } = await listening((response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    answer(response)
  })
  return {
    url,
    arrivals,
    recover() {
      answer = ok
      for (const response of open) {
        // What has begun an answer cannot be given another.
        if (response.headersSent) response.destroy()
        else ok(response)
      }
    },
  }
}

/** A receiver that is there for a second and away for a second, in turns. */
export async function startFlappingReceiver(): Promise<EndpointReceiver> {
  const { arrivals, server, url } = await listening(ok)
  const port = Number(new URL(url).port)
  const turns = setInterval(() => {
    if (!server.listening) return void server.listen(port, '127.0.0.1')
    server.close()
    server.closeAllConnections()
  }, FLAP_MS)
  whenDone(() => clearInterval(turns))
  return {
    url,
    arrivals,
    recover() {
      clearInterval(turns)
      if (!server.listening) server.listen(port, '127.0.0.1')
    },
  }
}

async function listening(answer: Behaviour) {
  const arrivals = new Map<string, number[]>()
  const listener: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      const eventId = String(request.headers['webhook-id'])
      const times = arrivals.get(eventId) ?? []
      arrivals.set(eventId, times)
      times.push(performance.now())
      answer(response)
    })
  }
  const server = createServer(listener)
  // Whoever sends a gigabyte is hung up on.
  server.on('connection', (socket) => socket.on('error', () => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenDone(() => {
    server.close()
    server.closeAllConnections()
  })
  return { arrivals, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
