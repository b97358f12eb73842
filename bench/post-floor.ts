import { createHmac, randomBytes } from 'node:crypto'
import { Pool } from 'undici'
import { anEvent, bodyOf } from './events.ts'
import { closedLoop, openLoop } from './load.ts'

const CONNECTIONS = 64
const BODIES = 1000

/** Signed POSTs of an event's body per second by one process without any storage, so many at a time. */
export async function signedPosts(url: string, count: number, connections = CONNECTIONS): Promise<number> {
  const { send, close } = signedPoster(url, connections)
  await closedLoop(count / 2, connections, send)
  const { perSecond } = await closedLoop(count, connections, send)
  await close()
  return perSecond
}

/** The milliseconds that each of some signed POSTs takes, at a fixed rate. */
export async function pacedPosts(url: string, count: number, perSecond: number): Promise<number[]> {
  const { send, close } = signedPoster(url)
  const times: number[] = []
  await openLoop(count, perSecond, async (index) => {
    const sentAt = performance.now()
    await send(index)
    times.push(performance.now() - sentAt)
  })
  await close()
  return times
}

function signedPoster(url: string, connections = CONNECTIONS) {
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const key = randomBytes(32)
  const events = Array.from({ length: BODIES }, () => anEvent(''))
  const bodies = events.map((event) => ({ id: event.id, body: Buffer.from(bodyOf(event)) }))
  const send = (index: number) => {
    const { id, body } = bodies[index % BODIES] as (typeof bodies)[number]
    return new Promise<void>((resolve, reject) => {
      pool.dispatch(
        { path, method: 'POST', headers: headersOf(key, id, body), body },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: () => undefined,
          onResponseEnd: () => resolve(),
          onResponseError: (_, error) => reject(error),
        },
      )
    })
  }
  return { send, close: () => pool.close() }
}

/** The signature headers, which every attempt computes anew. */
function headersOf(key: Buffer, id: string, body: Buffer): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('hex')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}
