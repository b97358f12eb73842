import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Order } from '@backoffice/contracts/order.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import postgres from 'postgres'
import { createProduct } from '../services/catalog/src/products/create-product.ts'
import { getProduct } from '../services/catalog/src/products/get-product.ts'
import { listProducts } from '../services/catalog/src/products/list-products.ts'
import { updateProduct } from '../services/catalog/src/products/update-product.ts'
import { takeStock } from '../services/catalog/src/stock/take-stock.ts'
import { updateVariant } from '../services/catalog/src/variants/update-variant.ts'
import type { Api } from './api.ts'
import { beyondRest, type CpuByPart, cpuBetween, openCpu, sumOf } from './cpu-by-part.ts'
import { applyImport, validateFile, writeProductsFile } from './import-file.ts'
import { closedLoop, type Load } from './load.ts'
import { aProduct } from './products.ts'
import { rawSender, recordRequests } from './raw-sql.ts'
import type { Row } from './table.ts'

const MANY = 16
const FEW = 4
const COUNT = 1000
const RECORDED = 200
const GROWTH = 10_000
const IMPORTED = 5000
/** The time at rest that is measured, and the time in which relays and consumers end their work after a load. */
const [AT_REST_FOR_MS, AFTERWARDS_MS] = [20_000, 3000]
/** A stack that has just started compiles, and its loops do not rest yet. */
const WARM_MS = 30_000
/** Parts of less than this many milliseconds a request are summed up as others. */
const SMALL_MS = 0.05

interface Place {
  readonly api: Api
  readonly workspaceId: string
  readonly catalogUrl: string
  readonly directory: string
  description(): StackDescription
  /** Calls the catalog as other services do. Open it when it is needed: its token lasts 60 s. */
  openCatalog(): Promise<Api>
}

/** A kind of request. */
interface Request {
  readonly name: string
  readonly send: (index: number) => Promise<unknown>
  /** The same SQL, recorded and sent directly. Orders and payments have theirs in `npm run bench -- orders`. */
  readonly raw?: Pick<Parameters<typeof recordRequests>[1], 'operation' | 'pathOf'> & {
    readonly bodyOf?: (index: number) => unknown
  }
  readonly count?: number
  /** Makes what so many requests need. */
  readonly prepare?: (count: number) => Promise<unknown>
  /** In milliseconds of CPU. */
  readonly goal?: number
  /** At 4 at a time as well: the cost of small batches. */
  readonly isChange?: boolean
}

/**
 * What one request of each kind costs the whole system: requests per second, and CPU milliseconds by process.
 * `isWanted` selects by the names of rows: all of `cost`, or `cost of` some requests.
 */
export async function measureCost(place: Place, isWanted: (what: string) => boolean): Promise<Row[]> {
  const cpu = await openCpu(place.directory, place.description)
  const measured = async (work: () => Promise<unknown>, atRest: CpuByPart) => {
    const [before, startedAt] = [await cpu.read(), performance.now()]
    await work()
    await pause(AFTERWARDS_MS)
    return beyondRest(cpuBetween(before, await cpu.read()), atRest, (performance.now() - startedAt) / 1000)
  }
  await pause(WARM_MS)
  const nothing: CpuByPart = new Map()
  const rest = await measured(() => pause(AT_REST_FOR_MS), nothing)
  const restSeconds = (AT_REST_FOR_MS + AFTERWARDS_MS) / 1000
  const atRest: CpuByPart = new Map([...rest].map(([part, seconds]) => [part, seconds / restSeconds]))
  const rows: Row[] = [
    {
      name: 'cost at rest, of one core',
      measured: `${sumOf(atRest).toFixed(3)} = ${partsOf(atRest, 1, 0.002)}`,
      bound: '≤ 0.05',
    },
    ...(await memoryAndConnections(place)),
  ]
  const measure = async ({ name, send, raw, goal, isChange, prepare, count = COUNT }: Request) => {
    await prepare?.(Math.ceil(count * 1.25))
    await closedLoop(Math.ceil(count / 4), MANY, (index) => send(index))
    const costOf = async (concurrency: number) => {
      let load: Load | undefined
      const used = await measured(async () => {
        load = await closedLoop(count, concurrency, (index) => send(index))
      }, atRest)
      if (load === undefined) throw new Error(`${name}: nothing was sent`)
      return { load, used, ms: (sumOf(used) * 1000) / count }
    }
    const many = await costOf(MANY)
    const floor = raw && (await rawRate(place, raw))
    rows.push({
      name: `cost of ${name}, ${MANY} at a time`,
      measured: `${many.ms.toFixed(2)} ms = ${partsOf(many.used, count / 1000, SMALL_MS)}; ${rateOf(many.load)}`,
      ...(floor && { floor: `${floor.toFixed(0)}/s`, ratio: many.load.perSecond / floor }),
      bound: goal === undefined ? 'no bound' : `≤ ${goal} ms`,
    })
    if (!isChange) return
    const few = await costOf(FEW)
    rows.push({
      name: `cost of ${name}, ${FEW} at a time beside ${MANY}`,
      measured: `${few.ms.toFixed(2)} ms; ${rateOf(few.load)}`,
      floor: `${many.ms.toFixed(2)} ms`,
      ratio: few.ms / many.ms,
      bound: '≤ 1.2',
    })
  }
  const requests = await requestsOf(place)
  for (const request of requests) if (isWanted(`cost of ${request.name}`)) await measure(request)
  if (!isWanted('cost of an import row')) {
    await cpu.stop()
    return rows
  }
  rows.push(await importCost(place, (work) => measured(work, atRest)))
  rows.push(...(await updatesInPlace(place)))

  const read = requests.find(({ name }) => name === 'read one')
  await closedLoop(GROWTH / 2, MANY, () => place.api.post('/v1/products', aProduct(0)))
  const rename = requests.find(({ name }) => name === 'rename')
  await closedLoop(GROWTH / 2, MANY, async (index) => rename?.send(index))
  if (read) await measure({ ...read, name: `read one after ${GROWTH.toLocaleString('en')} creates and renames` })
  await cpu.stop()
  return rows
}

async function requestsOf({ api, openCatalog }: Place): Promise<Request[]> {
  const products: Product[] = []
  await closedLoop(COUNT, MANY, async () => {
    products.push(await api.post<Product>('/v1/products', { ...aProduct(3), status: 'ACTIVE' }))
  })
  const single: string[] = []
  await closedLoop(COUNT, MANY, async () => {
    const { variants } = await api.post<Product>('/v1/products', { ...aProduct(0), stock: 1_000_000, status: 'ACTIVE' })
    if (variants[0]) single.push(variants[0].id)
  })
  const at = (index: number) => products[index % products.length]
  const pathOf = (index: number) => `/v1/products/${at(index)?.id}`
  const variantPathOf = (index: number) => `${pathOf(index)}/variants/${at(index)?.variants[1]?.id}`
  let price = 500_000
  const create = (variants: number) => ({
    send: () => api.post('/v1/products', aProduct(variants)),
    raw: { operation: createProduct, bodyOf: () => aProduct(variants) },
    isChange: variants === 3,
  })
  const rename = () => ({ name: `Renamed ${randomUUID()}` })
  const reprice = () => ({ price: { NGN: price++, USD: 300 } })
  const take = (index: number) => ({
    order: randomUUID(),
    lines: [{ variant: single[index % single.length], quantity: 1 }],
  })
  const order = (index: number, lines: number, status?: 'PLACED') => ({
    currency: 'NGN',
    items: Array.from({ length: lines }, (_, line) => ({
      variant: single[(index * lines + line) % single.length],
      quantity: 1,
    })),
    customer: { firstname: 'Ada', email: `ada-${index}@example.com` },
    sales_channel: 'web',
    ...(status && { status }),
  })
  const unpaid: Order[] = []
  const place = async (index: number) => {
    unpaid.push(await api.post<Order>('/v1/orders', order(index, 5, 'PLACED')))
  }
  const pay = async () => {
    const { id, total_price: amount, currency } = unpaid.pop() as Order
    await api.post(`/v1/orders/${id}/payments`, { amount, currency, reference: id, provider: 'bench' })
  }
  const list = '/v1/products?limit=100'
  const query = '/v1/products?limit=20&query=Variable'
  const get = (path: string) => () => api.get(path)
  return [
    {
      ...{ name: 'read one', goal: 0.7, count: 5 * COUNT },
      send: (index) => api.get(pathOf(index)),
      raw: { operation: getProduct, pathOf },
    },
    { name: 'list of 100', goal: 3, send: get(list), raw: { operation: listProducts, pathOf: () => list } },
    { name: 'query, 20 items', send: get(query), raw: { operation: listProducts, pathOf: () => query } },
    { name: 'create SIMPLE', ...create(0) },
    { name: 'create with 3 variants', goal: 3.5, ...create(3) },
    { name: 'create with 100 variants', ...create(100), count: COUNT / 5 },
    {
      ...{ name: 'rename', goal: 2.5, isChange: true },
      send: (index) => api.put(pathOf(index), rename()),
      raw: { operation: updateProduct, pathOf, bodyOf: rename },
    },
    {
      ...{ name: 'price change', goal: 2.5, isChange: true },
      send: (index) => api.put(variantPathOf(index), reprice()),
      raw: { operation: updateVariant, pathOf: variantPathOf, bodyOf: reprice },
    },
    await stockTake(take, openCatalog),
    { name: 'order at CART, 5 lines', send: (index) => api.post('/v1/orders', order(index, 5)) },
    { name: 'order placed, 5 lines', goal: 7, isChange: true, send: place },
    { name: 'payment', send: pay, prepare: (count) => closedLoop(count - unpaid.length, MANY, place) },
    { name: 'list of 20 orders', send: get('/v1/orders') },
  ]
}

async function stockTake(take: (index: number) => unknown, openCatalog: Place['openCatalog']): Promise<Request> {
  let catalog: Promise<Api> | undefined
  return {
    name: 'stock take',
    send: async (index) => {
      catalog ??= openCatalog()
      await (await catalog).post('/internal/stock/take', take(index))
    },
    raw: { operation: takeStock, bodyOf: take },
  }
}

/** Transactions per second of the same statements, sent directly. */
async function rawRate({ catalogUrl, workspaceId }: Place, raw: NonNullable<Request['raw']>): Promise<number> {
  const { bodyOf, ...requests } = raw
  const bodies = Array.from({ length: RECORDED + 1 }, (_, index) => bodyOf?.(index))
  const recorded = await recordRequests(catalogUrl, { ...requests, workspaceId, bodies, committed: 1 })
  const sender = rawSender(catalogUrl, MANY)
  const send = (index: number) => sender.send(recorded[index] ?? [])
  // Reads can be sent again, so their connections are warm.
  const isRead = raw.operation.method === 'GET'
  if (isRead) await closedLoop(recorded.length, MANY, send)
  const { perSecond } = await closedLoop(recorded.length, MANY, send)
  await sender.stop()
  return perSecond
}

async function importCost(
  { api }: Place,
  measured: (work: () => Promise<unknown>) => Promise<CpuByPart>,
): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'))
  const path = join(folder, 'products.csv')
  await writeProductsFile(path, IMPORTED)
  await api.post('/v1/categories', { name: 'All' })
  let ms = Number.NaN
  const used = await measured(async () => {
    const { id } = await validateFile(api, path)
    ms = await applyImport(api, id)
  })
  rmSync(folder, { recursive: true })
  return {
    name: 'cost of an import row',
    measured:
      `${((sumOf(used) * 1000) / IMPORTED).toFixed(2)} ms = ${partsOf(used, IMPORTED / 1000, 0.02)}; ` +
      `${Math.round((IMPORTED * 1000) / ms)} rows/s applied`,
    bound: 'no bound',
  }
}

/** The share of updates that wrote no index, of the tables that each change writes. */
async function updatesInPlace({ description }: Place): Promise<Row[]> {
  const sql = postgres(description().postgres, { max: 1 })
  const tables = await sql<{ name: string; updates: number; hot: number }[]>`
    select schemaname || '.' || relname as name, n_tup_upd::integer as updates, n_tup_hot_upd::integer as hot
    from pg_stat_user_tables where n_tup_upd > ${COUNT} order by n_tup_upd desc`
  await sql.end()
  return tables.map(({ name, updates, hot }) => ({
    name: `updates of ${name} that write no index`,
    measured: `${(hot / updates).toFixed(2)} of ${updates}`,
    bound: /product$|outbox/.test(name) ? '≥ 0.9' : 'no bound',
  }))
}

/** Memory of the services, where a shared page counts in parts, and connections to PostgreSQL, at rest. */
async function memoryAndConnections({ description }: Place): Promise<Row[]> {
  const { services, postgres: url } = description()
  const kib = Object.values(services).map(({ pid }) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]),
  )
  const sql = postgres(url, { max: 1 })
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*)::integer - 1 as count from pg_stat_activity where backend_type = 'client backend'`
  await sql.end()
  const bytes = kib.reduce((sum, one) => sum + one, 0) * 1024
  return [
    { name: 'memory of all services at rest', measured: `${Math.round(bytes / 1e6)} MB`, bound: '≤ 750 MB' },
    { name: 'connections to PostgreSQL at rest', measured: String(count), bound: '≤ 50' },
  ]
}

/** Seconds by part, the largest first, in units of `per` each. */
function partsOf(cpu: CpuByPart, per: number, small: number): string {
  const all = [...cpu].map(([part, seconds]) => ({ part, share: seconds / per })).sort((a, b) => b.share - a.share)
  const others = all.filter(({ share }) => share < small).reduce((sum, { share }) => sum + share, 0)
  const named = all.filter(({ share }) => share >= small)
  const digits = small < 0.01 ? 3 : 2
  const rest = Math.abs(others) < small ? [] : [{ part: 'others', share: others }]
  return [...named, ...rest].map(({ part, share }) => `${share.toFixed(digits)} ${part}`).join(' + ')
}

const rateOf = ({ perSecond, p50, p99 }: Load) =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
