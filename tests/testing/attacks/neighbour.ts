import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Product } from '@backoffice/contracts/product.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { apiWith } from '../api.ts'
import { PIXEL, upload } from '../files.ts'
import { aProduct } from '../products.ts'
import { logIn } from './log-in.ts'

/** Keys that are new, since a key is looked up at its first call. */
const KEYS = 25
const PRODUCTS = 10

/** A workspace with something of everything. */
export interface Neighbour {
  readonly gateway: string
  readonly keys: readonly string[]
  /** The headers of somebody who has logged in to the console. */
  readonly console: Readonly<Record<string, string>>
  readonly products: readonly string[]
  readonly collection: string
  /** The path of a file. */
  readonly file: string
  /** `performance.now()` of the arrival of each product's event. */
  readonly arrivals: ReadonlyMap<string, number>
  /** Creates a product and waits until all that follows from it was seen. Throws when it takes long. */
  untilServed(withinMs: number): Promise<void>
  stop(): void
}

/** Creates a workspace with products, a collection of all of them, a file, and an endpoint for new products. */
export async function newNeighbour({ gateway, admin_token }: StackDescription): Promise<Neighbour> {
  const admin = apiWith(gateway, admin_token)
  const { id } = (await admin<{ id: string }>('POST', '/admin/v1/workspaces', { name: 'Neighbour' })).body
  const issueKey = async () => {
    const issue = { name: 'neighbour', scopes: ['*'] }
    return (await admin<{ key: string }>('POST', `/admin/v1/workspaces/${id}/keys`, issue)).body.key
  }
  const key = await issueKey()
  const api = apiWith(gateway, key)
  const change = async <Body>(path: string, body: unknown): Promise<Body> => {
    const answer = await api<Body>('POST', path, body)
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { url, arrivals, stop } = await startReceiver()
  await change('/v1/webhooks', { url, enabled_events: ['product.created'] })
  const collection = await change<{ id: string }>('/v1/collections', {
    name: 'All',
    published: true,
    membership_type: 'SMART',
    sort_order: 'CREATED_DESC',
    rules: { match: 'all', conditions: [{ field: 'name', operator: 'is_set' }] },
  })
  const create = async () => (await change<Product>('/v1/products', aProduct())).id
  const products: string[] = []
  while (products.length < PRODUCTS) products.push(await create())
  const asset = await upload(gateway, { authorization: `Bearer ${key}` }, PIXEL)
  const keys: string[] = []
  while (keys.length < KEYS) keys.push(await issueKey())

  const isShown = async (product: string) => {
    const { body } = await api<{ items: Product[] }>('GET', productsOf(collection.id))
    return body.items.some((item) => item.id === product)
  }
  return {
    gateway,
    keys,
    console: await logIn(gateway, key),
    products,
    collection: collection.id,
    file: new URL(asset.body.url).pathname,
    arrivals,
    async untilServed(withinMs) {
      const product = await create()
      await eventually('a webhook arrives', () => arrivals.has(product), withinMs)
      await eventually('the collection has the product', () => isShown(product), withinMs)
    },
    stop,
  }
}

/** The path of the newest products of a collection. */
export const productsOf = (collection: string): string => `/v1/collections/${collection}/products?limit=100`

/** A receiver of events about products. */
async function startReceiver() {
  const arrivals = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const at = performance.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(204).end()
    const { data } = JSON.parse(Buffer.concat(chunks).toString())
    if (!arrivals.has(data.id)) arrivals.set(data.id, at)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, stop }
}
