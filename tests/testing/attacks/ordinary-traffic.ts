import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { PIXEL } from '../files.ts'
import { aProduct } from '../products.ts'
import { type Neighbour, productsOf } from './neighbour.ts'

const CALL_EVERY_MS = 40
const POLL_MS = 100
/** The longest wait for an answer, and for what follows from the last call. */
const GIVE_UP_MS = 15_000

/** What a workspace saw of its traffic; times in milliseconds. */
export interface Seen {
  /** The calls without an answer of 2xx. */
  readonly refused: readonly string[]
  readonly calls: readonly number[]
  /** From the answer to a create until its webhook arrives. */
  readonly webhooks: readonly number[]
  /** From the answer to a create until the collection shows the product. */
  readonly projections: readonly number[]
  /** Webhooks that did not arrive, and products that the collection did not show. */
  readonly missing: number
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly type?: string
}

/** Makes so many ordinary calls at a fixed rate; one of four creates a product. Waits until all that follows from them is there. */
export async function ordinaryTraffic(neighbour: Neighbour, count: number): Promise<Seen> {
  const refused: string[] = []
  const calls: number[] = []
  const createdAt = new Map<string, number>()
  const shownAt = new Map<string, number>()

  const make = async (index: number, call: Call) => {
    const startedAt = performance.now()
    const { status, text } = await answerTo(neighbour, index, call)
    const now = performance.now()
    calls.push(now - startedAt)
    if (status < 200 || status > 299)
      return void refused.push(`${call.method} ${call.path}: ${status} ${text.slice(0, 200)}`)
    if (call.method === 'POST' && call.path === '/v1/products') createdAt.set(JSON.parse(text).id, now)
    if (call.path === productsOf(neighbour.collection)) {
      for (const { id } of JSON.parse(text).items as Product[]) if (!shownAt.has(id)) shownAt.set(id, now)
    }
  }
  const made: Promise<void>[] = []
  while (made.length < count) {
    made.push(make(made.length, callOf(neighbour, made.length)))
    await pause(CALL_EVERY_MS)
  }
  await Promise.all(made)

  const isMissing = (id: string) => !neighbour.arrivals.has(id) || !shownAt.has(id)
  const isComplete = () => ![...createdAt.keys()].some(isMissing)
  const deadline = performance.now() + GIVE_UP_MS
  const list = { method: 'GET', path: productsOf(neighbour.collection) }
  while (!isComplete() && performance.now() < deadline) {
    await pause(POLL_MS)
    await make(made.length, list)
  }
  const delays = (reachedAt: ReadonlyMap<string, number>) =>
    [...createdAt]
      .map(([id, at]) => Math.max(0, (reachedAt.get(id) ?? Number.POSITIVE_INFINITY) - at))
      .filter(Number.isFinite)
  const [webhooks, projections] = [delays(neighbour.arrivals), delays(shownAt)]
  return { refused, calls, webhooks, projections, missing: 2 * createdAt.size - webhooks.length - projections.length }
}

/** Status 0 when there is no answer within `GIVE_UP_MS`. */
async function answerTo({ gateway, keys }: Neighbour, index: number, { method, path, body, type }: Call) {
  const headers = {
    authorization: `Bearer ${keys[index % keys.length]}`,
    ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
  }
  try {
    const signal = AbortSignal.timeout(GIVE_UP_MS)
    const response = await fetch(new URL(path, gateway), {
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

const UPLOAD = new Uint8Array(form(aFile(Buffer.from(PIXEL), { fileName: 'photo.png' })))
/** The call that uploads an image. */
const UPLOAD_AT = 103

/** Of four calls, one creates a product, one reads one, one lists a collection, and one is of another kind. */
function callOf({ products, collection, file }: Neighbour, index: number): Call {
  const product = products[index % products.length]
  const others: Call[] = [
    { method: 'GET', path: '/v1/products?limit=50' },
    { method: 'GET', path: '/v1/orders' },
    { method: 'GET', path: file },
    { method: 'PUT', path: `/v1/products/${product}`, body: JSON.stringify({ name: `Mug ${index}` }) },
    { method: 'GET', path: '/v1/customers' },
    { method: 'GET', path: '/v1/webhooks' },
  ]
  const turn = Math.floor(index / 4)
  const calls: readonly Call[] = [
    { method: 'POST', path: '/v1/products', body: JSON.stringify(aProduct()) },
    { method: 'GET', path: `/v1/products/${product}` },
    { method: 'GET', path: productsOf(collection) },
    index === UPLOAD_AT
      ? { method: 'POST', path: '/v1/assets', body: UPLOAD, type: FORM }
      : (others[turn % others.length] as Call),
  ]
  return calls[index % 4] as Call
}
