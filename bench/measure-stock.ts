import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import postgres from 'postgres'
import { takeStock } from '../services/catalog/src/stock/take-stock.ts'
import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import { rawSender, recordRequests } from './raw-sql.ts'
import type { Row } from './table.ts'

const CONCURRENCY = 16
const WARM_UP = 500
const PRODUCTS = 5000
const RECORDED = 2500
const [HOT_TAKES, HOT_STOCK] = [200, 150]
const PATH = '/internal/stock/take'

interface Place {
  /** Calls the gateway for the workspace. */
  readonly api: Api
  /** Calls the catalog as other services do. Open it when it is needed: its token lasts 60 s. */
  openCatalog(): Promise<Api>
  readonly workspaceId: string
  readonly catalogUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
}

/** Takes of stock per second beside the same SQL, and the time until a variant is sold out and published. */
export async function measureStock(place: Place): Promise<Row[]> {
  const variants: string[] = []
  await closedLoop(PRODUCTS + WARM_UP, CONCURRENCY, async () => {
    variants.push(await newVariant(place.api, aProduct(0)))
  })
  const hot = await newVariant(place.api, { ...aProduct(0), stock: HOT_STOCK })
  await whenAllIsPublished(place)

  const catalog = await place.openCatalog()
  await closedLoop(WARM_UP, CONCURRENCY, (index) => catalog.post(PATH, anOrder(variants[PRODUCTS + index])))
  const load = await closedLoop(PRODUCTS, CONCURRENCY, (index) => catalog.post(PATH, anOrder(variants[index])))
  const toldAfter = await whenAllIsPublished(place)
  const soldOutAfter = await sellOut(catalog, hot)
  await catalog.close()

  const orders = variants.slice(0, RECORDED).map(anOrder)
  const requests = { operation: takeStock, workspaceId: place.workspaceId, bodies: orders, committed: 1 }
  const recorded = await recordRequests(place.catalogUrl, requests)
  const raw = rawSender(place.catalogUrl, CONCURRENCY)
  const floor = await closedLoop(recorded.length, CONCURRENCY, (index) => raw.send(recorded[index] ?? []))
  await raw.stop()
  return [
    {
      name: `take stock of different products, ${CONCURRENCY} at a time`,
      measured: `${load.perSecond.toFixed(0)}/s, p50 ${load.p50.toFixed(1)} ms, p99 ${load.p99.toFixed(1)} ms`,
      floor: `${floor.perSecond.toFixed(0)}/s`,
      ratio: load.perSecond / floor.perSecond,
      bound: '≥ 1000/s',
    },
    {
      name: 'SQL statements per take',
      measured: String(Math.max(...recorded.map((transaction) => transaction.length))),
      bound: '≤ 5',
    },
    {
      name: `${HOT_TAKES} takes at once of one variant with ${HOT_STOCK}, none oversold`,
      measured: `${soldOutAfter.toFixed(0)} ms`,
      bound: '≤ 1000 ms',
    },
    {
      name: `last of ${PRODUCTS} takes answered → product.updated of all products published`,
      measured: `${(toldAfter / 1000).toFixed(1)} s`,
      bound: '≤ 5 s',
    },
  ]
}

async function newVariant(api: Api, product: object): Promise<string> {
  const { variants } = await api.post<Product>('/v1/products', product)
  return variants[0]?.id ?? ''
}

const anOrder = (variant = '') => ({ order: randomUUID(), lines: [{ variant, quantity: 1 }] })

/** Milliseconds until all takes are answered. Throws unless exactly the stock was taken. */
async function sellOut(catalog: Api, variant: string): Promise<number> {
  const startedAt = performance.now()
  const takes = Array.from({ length: HOT_TAKES }, () => catalog.post(PATH, anOrder(variant)))
  const taken = (await Promise.allSettled(takes)).filter(({ status }) => status === 'fulfilled').length
  if (taken !== HOT_STOCK) throw new Error(`${taken} takes succeeded of a variant with ${HOT_STOCK}`)
  return performance.now() - startedAt
}

/** Milliseconds until no product of the workspace waits for its refresh, and every record is published. */
async function whenAllIsPublished({ postgresUrl, workspaceId }: Place): Promise<number> {
  const startedAt = performance.now()
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined })
  for (;;) {
    const [waiting] = await sql`
      select from catalog.product_refresh where workspace_id = ${workspaceId}
      union all
      (select from catalog.outbox where workspace_id = ${workspaceId} and published_at is null limit 1)
      limit 1`
    if (waiting === undefined) break
    await pause(20)
  }
  await sql.end()
  return performance.now() - startedAt
}
