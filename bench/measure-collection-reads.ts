import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { listCollections } from '../services/collections/src/collections/list-collections.ts'
import { listMembers } from '../services/collections/src/members/list-members.ts'
import { type List, listLatency } from './list-latency.ts'
import { BUILT } from './measure-collection-build.ts'
import { type CollectionPlace, PRODUCTS } from './seed-product-projection.ts'
import type { Row } from './table.ts'

const [COLLECTIONS, MEMBERS] = [20, 10]
const [DEEP_PAGE, AFTER_PAGE] = [PRODUCTS / 100, PRODUCTS / 40]

/** Creates hand-picked collections of these products, as many as the first page of a list shows. */
export async function createSmallCollections({ api }: CollectionPlace, products: readonly string[]): Promise<void> {
  for (let index = 0; index < COLLECTIONS; index++) {
    const { handle } = await api.post<Collection>('/v1/collections', { name: `Small ${index}`, published: true })
    const own = products.slice(index * MEMBERS, (index + 1) * MEMBERS)
    await api.post(`/v1/collections/${handle}/products`, { products: own })
  }
}

/** The first page of a workspace's collections, beside the same SQL sent directly. */
export async function measureCollectionList(
  { api, workspaceId, databaseUrl }: CollectionPlace,
  what: string,
): Promise<Row> {
  const query = `size=${COLLECTIONS}`
  const list: List = { api, workspaceId, databaseUrl, operation: listCollections, path: '/v1/collections', query }
  return { name: `list of ${COLLECTIONS} collections, ${what}`, ...(await listLatency(list)), bound: 'p99 ≤ 20 ms' }
}

/** Pages of the products of the collection with all products, beside the same SQL sent directly. */
export async function measureCollectionProducts({ api, workspaceId, databaseUrl }: CollectionPlace): Promise<Row[]> {
  const path = `/v1/collections/${BUILT}/products`
  const { items } = await api.get<{ items: Product[] }>(`${path}?page=${AFTER_PAGE}`)
  const pages: [what: string, query: string, bound: string][] = [
    ['page 1', '', 'p99 ≤ 50 ms'],
    [`page ${DEEP_PAGE}`, `page=${DEEP_PAGE}`, 'no bound: after leads there'],
    [`after the last of page ${AFTER_PAGE}`, `after=${items.at(-1)?.id}`, 'p99 ≤ 3 × page 1'],
  ]
  const place = { api, workspaceId, databaseUrl, operation: listMembers, path, params: { handle: BUILT } }
  const rows: Row[] = []
  for (const [what, query, bound] of pages) {
    const latency = await listLatency({ ...place, query })
    rows.push({ name: `products of a collection of ${PRODUCTS.toLocaleString('en')}: ${what}`, ...latency, bound })
  }
  return rows
}
