import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import { type Neighbour, productsOf } from './neighbour.ts'
import { type Call, CREATE, ordinaryCall, send } from './ordinary-calls.ts'

const CALL_EVERY_MS = 40
const POLL_MS = 100
/** The longest wait for an answer, and for what follows from the last call. */
const GIVE_UP_MS = 30_000

/** What a workspace saw of its traffic. Times are in milliseconds, and `Infinity` for what did not come. */
export interface Seen {
  /** The calls without an answer of 2xx. */
  readonly refused: readonly string[]
  readonly calls: readonly number[]
  /** From the answer to a create until its webhook arrives. */
  readonly webhooks: readonly number[]
  /** From the answer to a create until the collection shows the product. */
  readonly projections: readonly number[]
}

/**
 * Makes so many ordinary calls at a fixed rate, of which every fourth creates a product, and waits until all that
 * follows from them is there.
 */
export async function ordinaryTraffic(neighbour: Neighbour, count: number): Promise<Seen> {
  const refused: string[] = []
  const calls: number[] = []
  /** `performance.now()` for each product. */
  const createdAt = new Map<string, number>()
  const shownAt = new Map<string, number>()

  function note({ method, path }: Call, text: string, now: number): void {
    if (method === CREATE.method && path === CREATE.path) createdAt.set(JSON.parse(text).id, now)
    if (path !== productsOf(neighbour.collection)) return
    for (const { id } of JSON.parse(text).items as Product[]) if (!shownAt.has(id)) shownAt.set(id, now)
  }
  async function make(index: number, call: Call): Promise<void> {
    const startedAt = performance.now()
    const { status, text } = await send(neighbour, index, call, GIVE_UP_MS)
    const now = performance.now()
    calls.push(now - startedAt)
    if (status >= 200 && status <= 299) note(call, text, now)
    else refused.push(`${call.method} ${call.path}: ${status} ${text.slice(0, 200)}`)
  }
  const isComplete = () => [...createdAt.keys()].every((id) => neighbour.arrivals.has(id) && shownAt.has(id))
  const delays = (reachedAt: ReadonlyMap<string, number>) =>
    [...createdAt].map(([id, at]) => Math.max(0, (reachedAt.get(id) ?? Number.POSITIVE_INFINITY) - at))

  const made: Promise<void>[] = []
  while (made.length < count) {
    made.push(make(made.length, ordinaryCall(neighbour, made.length)))
    await pause(CALL_EVERY_MS)
  }
  await Promise.all(made)
  const deadline = performance.now() + GIVE_UP_MS
  while (!isComplete() && performance.now() < deadline) {
    await pause(POLL_MS)
    await make(count, { method: 'GET', path: productsOf(neighbour.collection) })
  }
  return { refused, calls, webhooks: delays(neighbour.arrivals), projections: delays(shownAt) }
}
