import { randomInt } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { reorderProducts } from '../services/collections/src/members/reorder-products.ts'
import { closedLoop } from './load.ts'
import { rawSender, recordRequests } from './raw-sql.ts'
import type { CollectionPlace } from './seed-product-projection.ts'
import type { Row } from './table.ts'

const MOVED = 1000
/** Each of the service's connections runs more than five: after five runs PostgreSQL may use one plan for all. */
const REORDERS = 80

/** Adds products to a hand-picked collection and moves them, a thousand a call, beside the same SQL sent directly. */
export async function measureCollectionOrder(place: CollectionPlace, products: readonly string[]): Promise<Row[]> {
  const { api, workspaceId, databaseUrl } = place
  const { handle } = await api.post<Collection>('/v1/collections', { name: 'Ordered', published: true })
  const path = `/v1/collections/${handle}/products`
  const adds = await closedLoop(products.length / MOVED, 1, (index) =>
    api.post(path, { products: products.slice(index * MOVED, (index + 1) * MOVED) }),
  )
  const bodies = Array.from({ length: 2 * REORDERS }, () => aReorder(products))
  const load = await closedLoop(REORDERS, 1, (index) => api.put(`${path}/order`, bodies[index]))
  const requests = { workspaceId, operation: reorderProducts, pathOf: () => `${path}/order`, committed: 1 }
  const recorded = await recordRequests(databaseUrl, { ...requests, bodies: bodies.slice(REORDERS) })
  const raw = rawSender(databaseUrl, 1)
  const floor = await closedLoop(recorded.length, 1, (index) => raw.send(recorded[index] ?? []))
  await raw.stop()
  const among = `a collection of ${products.length.toLocaleString('en')}`
  return [
    {
      name: `add ${MOVED} products to a collection, up to ${products.length.toLocaleString('en')}`,
      measured: `p50 ${adds.p50.toFixed(0)} ms, p99 ${adds.p99.toFixed(0)} ms`,
      bound: 'no bound',
    },
    {
      name: `reorder ${MOVED} products of ${among}`,
      measured: `p50 ${load.p50.toFixed(0)} ms, p99 ${load.p99.toFixed(0)} ms`,
      floor: `p99 ${floor.p99.toFixed(0)} ms`,
      ratio: load.p99 / floor.p99,
      bound: 'no bound',
    },
    {
      name: `SQL statements per reorder of ${MOVED}`,
      measured: String(Math.max(...recorded.map(({ length }) => length))),
      bound: '≤ 5',
    },
  ]
}

/** Moves of different products to different positions. */
function aReorder(products: readonly string[]) {
  const moved = new Set<string>()
  const places = new Set<number>()
  while (moved.size < MOVED) moved.add(products[randomInt(products.length)] ?? '')
  while (places.size < MOVED) places.add(randomInt(products.length))
  const positions = [...places]
  return { positions: [...moved].map((product, index) => ({ product, position: positions[index] })) }
}
