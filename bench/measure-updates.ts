import type { Product } from '@backoffice/contracts/product.ts'
import { updateProduct } from '../services/catalog/src/products/update-product.ts'
import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import { rawSender, recordRequests } from './raw-sql.ts'
import type { Row } from './table.ts'

const CONCURRENCY = 16
const PRODUCTS = 2000

interface Place {
  readonly api: Api
  readonly workspaceId: string
  readonly catalogUrl: string
}

/** Updates per second through the gateway beside the same SQL, and one create with the most variants allowed. */
export async function measureUpdates({ api, workspaceId, catalogUrl }: Place): Promise<Row[]> {
  const ids: string[] = []
  await closedLoop(PRODUCTS, CONCURRENCY, async () => {
    ids.push((await api.post<Product>('/v1/products', aProduct(0))).id)
  })
  const pathOf = (index: number) => `/v1/products/${ids[index]}`
  const change = (round: number) => ({ name: `Renamed ${round}`, stock: round, price: { NGN: round } })
  await closedLoop(PRODUCTS / 4, CONCURRENCY, (index) => api.put(pathOf(index), change(1)))
  const load = await closedLoop(PRODUCTS, CONCURRENCY, (index) => api.put(pathOf(index), change(2)))

  const bodies = ids.map(() => change(3))
  const recorded = await recordRequests(catalogUrl, {
    ...{ operation: updateProduct, pathOf, workspaceId, bodies },
    committed: 0,
  })
  const raw = rawSender(catalogUrl, CONCURRENCY)
  const floor = await closedLoop(recorded.length, CONCURRENCY, (index) => raw.send(recorded[index] ?? []))
  await raw.stop()

  const most = await closedLoop(5, 1, () => api.post('/v1/products', aProduct(2048)))
  return [
    {
      name: `update a SIMPLE product, ${CONCURRENCY} at a time`,
      measured: `${load.perSecond.toFixed(0)}/s, p50 ${load.p50.toFixed(1)} ms, p99 ${load.p99.toFixed(1)} ms`,
      floor: `${floor.perSecond.toFixed(0)}/s`,
      ratio: load.perSecond / floor.perSecond,
      bound: 'no bound yet',
    },
    {
      name: 'SQL statements per update',
      measured: String(Math.max(...recorded.map((transaction) => transaction.length))),
      bound: '≤ 10',
    },
    { name: 'create with 2,048 variants, alone', measured: `p50 ${most.p50.toFixed(0)} ms`, bound: '≤ 1000 ms' },
  ]
}
