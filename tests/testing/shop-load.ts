import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { Agent } from 'undici'
import { aProduct } from './products.ts'

/** A request that got no answer, or another one than it should. */
interface Failure {
  readonly at: string
  readonly request: string
  readonly status: number | undefined
  readonly answer: string
}

/** Clients of a workspace that create, change and list products, place and pay orders, all the time. */
export interface ShopLoad {
  readonly requests: number
  readonly failures: readonly Failure[]
  /** Requests sent again because the first one was lost; only with `isRepeated`. */
  readonly repeated: number
  /** Ids of what was created. */
  readonly products: readonly string[]
  readonly orders: readonly string[]
  /** Resolves when the last requests are answered. */
  stop(): Promise<void>
}

interface ShopLoadOptions {
  readonly origin: string
  readonly key: string
  readonly clients: number
  /** Whether a lost request is sent once more, as the documentation of the API says, with the same Idempotency-Key. */
  readonly isRepeated: () => boolean
}

type Body = { id: string; total?: number; variants?: { id: string }[] }

/** The pause after each round of a client, since processes start on the same processors meanwhile. */
const PAUSE_MS = 1200

/** Starts the clients. Idle connections end like those of the platform's own clients (`IDLE_MS`). */
export function startShopLoad({ origin, key, clients, isRepeated }: ShopLoadOptions): ShopLoad {
  const agent = new Agent({ keepAliveTimeout: 2_000, keepAliveMaxTimeout: 2_000 })
  const [failures, products, orders]: [Failure[], string[], string[]] = [[], [], []]
  let [requests, repeated, isOver] = [0, 0, false]

  const send = async (method: string, path: string, body?: unknown) => {
    const idempotencyKey = randomUUID()
    const attempt = async () => {
      const answer = await agent.request({
        origin,
        method: method as 'GET',
        path,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(method === 'POST' && { 'idempotency-key': idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: answer.statusCode, text: await answer.body.text() }
    }
    const orError = () =>
      attempt().catch((error: Error & { code?: string }) => ({
        status: undefined,
        text: `${error.code} ${error.message}`,
      }))
    requests++
    let answer = await orError()
    if ((answer.status === undefined || answer.status === 503) && isRepeated()) {
      repeated++
      await pause(500)
      answer = await orError()
    }
    if (answer.status !== undefined && answer.status < 300) return JSON.parse(answer.text) as Body
    const at = new Date().toISOString()
    failures.push({ at, request: `${method} ${path}`, status: answer.status, answer: answer.text.slice(0, 300) })
    return undefined
  }

  const shop = async () => {
    const product = await send('POST', '/v1/products', aProduct({ status: 'ACTIVE', stock: 1000 }))
    const variant = product?.variants?.[0]?.id
    if (product === undefined || variant === undefined) return
    products.push(product.id)
    await send('PUT', `/v1/products/${product.id}`, { name: `Cup ${products.length}` })
    await send('GET', '/v1/products?limit=20')
    const items = [{ variant, quantity: 1 }]
    const order = await send('POST', '/v1/orders', { currency: 'NGN', status: 'PLACED', items })
    if (order === undefined) return
    orders.push(order.id)
    await send('GET', `/v1/orders/${order.id}`)
    await send('GET', '/v1/collections')
    await send('GET', '/v1/webhooks')
  }
  const client = async () => {
    while (!isOver) {
      await shop()
      await pause(PAUSE_MS)
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, client))
  const stop = async () => {
    isOver = true
    await ended
    await agent.close()
  }
  whenDone(() => {
    isOver = true
  })
  return {
    failures,
    products,
    orders,
    get requests() {
      return requests
    },
    get repeated() {
      return repeated
    },
    stop,
  }
}
