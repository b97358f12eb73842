import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** An endpoint's server that notes the time of each arrival. */
export interface EndpointReceiver {
  readonly url: string
  /** `performance.now()` of each arrival, by event id. */
  readonly arrivals: ReadonlyMap<string, readonly number[]>
  /** In the order of their arrivals. */
  readonly requests: readonly ReceivedAttempt[]
  /** Answers 200 to open and later requests. */
  recover(): void
}

/** One request. The times are of `performance.now()`. */
export interface ReceivedAttempt {
  readonly eventId: string
  readonly at: number
  /** When it was answered or its connection ended; infinite until then. */
  readonly until: number
}

/** The answer of a receiver, if it gives one. */
export type Behaviour = (response: ServerResponse) => void

const TICK_MS = 100
const FLAP_MS = 1000
const GIGABYTE = 1_000_000_000
const PART = Buffer.alloc(64 * 1024, 'x')

const ok: Behaviour = (response) => response.writeHead(200).end()

/** Answers 200 after so many milliseconds. */
export const answerAfter =
  (ms: number): Behaviour =>
  (response) =>
    void setTimeout(() => ok(response), ms)

/** Answers that violate HTTP or never end. */
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

/** A receiver with this behaviour until it recovers. */
export async function startEndpointReceiver(behaviour: Behaviour = ok): Promise<EndpointReceiver> {
  const open = new Set<ServerResponse>()
  let answer = behaviour
  const { arrivals, requests, url } = await listening((response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    answer(response)
  })
  return {
    url,
    arrivals,
    requests,
    recover() {
      answer = ok
      for (const response of open) {
        // A begun answer cannot be replaced.
        if (response.headersSent) response.destroy()
        else ok(response)
      }
    },
  }
}

/** A receiver that listens for a second and is away for a second, in turns. */
export async function startFlappingReceiver(): Promise<EndpointReceiver> {
  const { arrivals, requests, server, port, url } = await listening(ok)
  const turns = setInterval(() => {
    if (!server.listening) return void server.listen(port, '127.0.0.1')
    server.close()
    server.closeAllConnections()
  }, FLAP_MS)
  whenDone(() => clearInterval(turns))
  return {
    url,
    arrivals,
    requests,
    recover() {
      clearInterval(turns)
      if (!server.listening) server.listen(port, '127.0.0.1')
    },
  }
}

async function listening(answer: Behaviour) {
  const arrivals = new Map<string, number[]>()
  const requests: ReceivedAttempt[] = []
  const listener: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      const eventId = String(request.headers['webhook-id'])
      const times = arrivals.get(eventId) ?? []
      arrivals.set(eventId, times)
      const received = { eventId, at: performance.now(), until: Number.POSITIVE_INFINITY }
      times.push(received.at)
      requests.push(received)
      const over = () => {
        received.until = Math.min(received.until, performance.now())
      }
      // A client that gives up ends the connection a while before the answer is closed.
      request.socket.once('end', over)
      response.on('close', () => {
        request.socket.off('end', over)
        over()
      })
      answer(response)
    })
  }
  const server = createServer(listener)
  // webhook-delivery hangs up while a gigabyte is sent.
  server.on('connection', (socket) => socket.on('error', () => undefined))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  whenDone(() => {
    server.close()
    server.closeAllConnections()
  })
  return { arrivals, requests, server, port, url: `http://127.0.0.1:${port}` }
}
