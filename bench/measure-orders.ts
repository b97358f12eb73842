import { randomUUID } from 'node:crypto'
import type { Order } from '@backoffice/contracts/order.ts'
import type { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { takeStock } from '../services/catalog/src/stock/take-stock.ts'
import { readVariants } from '../services/catalog/src/variants/read-variants.ts'
import type { Catalog } from '../services/orders/src/catalog/catalog-client.ts'
import type { CheckoutApps } from '../services/orders/src/checkout/checkout-apps.ts'
import type { FormValidator } from '../services/orders/src/form/form-validator.ts'
import { operations } from '../services/orders/src/operations.ts'
import type { Api } from './api.ts'
import { closedLoop, type Load } from './load.ts'
import { aProduct } from './products.ts'
import { rawSender, recordRequests } from './raw-sql.ts'
import { copyCustomers, recordOrders } from './record-orders.ts'
import type { Row } from './table.ts'

const CONCURRENCY = 16
const CUSTOMERS = 1000
/** All customers are there after the warm-up. */
const [WARM_UP, ORDERS, RECORDED] = [CUSTOMERS, 1000, 500]
const VARIANTS = 500
const LINES = 5
const STOCK = 1_000_000

interface Place {
  /** Calls the gateway for the workspace. */
  readonly api: Api
  readonly workspaceId: string
  readonly ordersUrl: string
  readonly catalogUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
  /** Calls the catalog as other services do. Open it when it is needed: its token lasts 60 s. */
  openCatalog(): Promise<Api>
}

/** Orders created, placed and paid per second through the gateway, beside the same SQL sent directly. */
export async function measureOrders(place: Place): Promise<Row[]> {
  const variants: string[] = []
  await closedLoop(VARIANTS, CONCURRENCY, async () => {
    const {
      variants: [variant],
    } = await place.api.post<Product>('/v1/products', { ...aProduct(0), stock: STOCK })
    if (variant) variants.push(variant.id)
  })
  const aForm = (index: number, lines: number, status?: 'PLACED') => ({
    currency: 'NGN',
    items: Array.from({ length: lines }, (_, line) => ({
      variant: variants[(index * lines + line) % VARIANTS],
      quantity: 1,
    })),
    customer: { firstname: 'Ada', email: `ada-${index % CUSTOMERS}@example.com` },
    sales_channel: 'web',
    ...(status && { status }),
  })
  const create = (form: (index: number) => unknown) => async (index: number) => {
    await place.api.post('/v1/orders', form(index))
  }
  const measured = async (form: (index: number) => unknown) => {
    await closedLoop(WARM_UP, CONCURRENCY, create(form))
    return closedLoop(ORDERS, CONCURRENCY, create(form))
  }
  const atCart = (index: number) => aForm(index, LINES)
  const placed = (index: number) => aForm(index, LINES, 'PLACED')
  const ofOne = (index: number) => ({ ...aForm(index, 1, 'PLACED'), items: [{ variant: variants[0], quantity: 1 }] })

  return [
    ...(await creates(place, `order at CART with ${LINES} lines`, await measured(atCart), atCart, {
      ratio: 0.4,
      inOrders: 10,
      inCatalog: 1,
    })),
    ...(await creates(place, `order with ${LINES} lines placed in one request`, await measured(placed), placed, {
      ratio: 0.35,
      inOrders: 16,
      inCatalog: 5,
    })),
    besideOthers(await measured((index) => aForm(index, 1, 'PLACED')), await measured(ofOne)),
    ...(await payments(place, (index) => aForm(index, 1, 'PLACED'))),
  ]
}

interface Bounds {
  readonly ratio: number
  /** Statements, transaction control included. */
  readonly inOrders: number
  /** Statements, without begin, set_config and commit. */
  readonly inCatalog: number
}

async function creates(
  place: Place,
  name: string,
  load: Load,
  form: (index: number) => { readonly status?: string; readonly items: readonly { variant: string | undefined }[] },
  bounds: Bounds,
): Promise<Row[]> {
  const forms = Array.from({ length: RECORDED }, (_, index) => form(index))
  const inOrders = await recordInOrders(place, forms)
  const inCatalog = await recordInCatalog(place, forms)
  const [orders, catalog] = [rawSender(place.ordersUrl, CONCURRENCY), rawSender(place.catalogUrl, CONCURRENCY)]
  const floor = await closedLoop(forms.length, CONCURRENCY, async (index) => {
    await catalog.send(inCatalog[index] ?? [])
    for (const transaction of inOrders[index] ?? []) await orders.send(transaction)
  })
  await Promise.all([orders.stop(), catalog.stop()])
  const most = (statements: readonly number[]) => String(Math.max(...statements))
  return [
    {
      name: `${name}, ${CONCURRENCY} at a time`,
      measured: rateOf(load),
      floor: `${floor.perSecond.toFixed(0)}/s`,
      ratio: load.perSecond / floor.perSecond,
      bound: `ratio ≥ ${bounds.ratio}`,
    },
    {
      name: `SQL statements in orders per ${name}`,
      measured: most(inOrders.map((all) => all.flat().length)),
      bound: `≤ ${bounds.inOrders}`,
    },
    {
      name: `SQL statements in catalog per ${name}, without begin, set_config and commit`,
      measured: most(inCatalog.map(({ length }) => length - 3)),
      bound: `≤ ${bounds.inCatalog}`,
    },
  ]
}

const rateOf = ({ perSecond, p50, p99 }: Load) =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`

/** The transactions in orders of each order, to be sent in a workspace with the same customers. */
async function recordInOrders(
  { workspaceId, ordersUrl, postgresUrl, openCatalog }: Place,
  forms: readonly { items: readonly { variant: string | undefined }[] }[],
) {
  const api = await openCatalog()
  const ids = [...new Set(forms.flatMap(({ items }) => items.flatMap(({ variant }) => variant ?? [])))]
  const { variants } = await api.post<{ variants: OrderableVariant[] }>('/internal/variants/read', { ids, skus: [] })
  await api.close()
  const catalog = {
    readVariants: async () => variants,
    takeStock: async () => variants,
    releaseStock: async () => undefined,
    returnStock: async () => undefined,
  }
  const recorded = await recordOrders({ databaseUrl: ordersUrl, workspaceId, catalog, forms })
  const other = randomUUID()
  await copyCustomers(postgresUrl, workspaceId, other)
  return JSON.parse(JSON.stringify(recorded).replaceAll(workspaceId, other)) as typeof recorded
}

/** The transaction in catalog of each order: its variants are read or, for one to be placed, its stock is taken. */
async function recordInCatalog(
  { catalogUrl, workspaceId }: Place,
  forms: readonly { status?: string; items: readonly { variant: string | undefined }[] }[],
) {
  // The first one of a connection reads types as well; it is not recorded.
  const record = (operation: AnyOperation, bodies: readonly unknown[]) =>
    recordRequests(catalogUrl, { operation, workspaceId, bodies: [...bodies.slice(0, 1), ...bodies], committed: 1 })
  const [isPlaced] = forms.map(({ status }) => status === 'PLACED')
  const bodies = forms.map(({ items }) =>
    isPlaced
      ? { order: randomUUID(), lines: items.map(({ variant }) => ({ variant, quantity: 1 })) }
      : { ids: items.map(({ variant }) => variant), skus: [] },
  )
  return record(isPlaced ? takeStock : readVariants, bodies)
}

const besideOthers = (different: Load, hot: Load): Row => ({
  name: `order of one line placed, all of one variant, ${CONCURRENCY} at a time; beside it: of different variants`,
  measured: rateOf(hot),
  floor: `${different.perSecond.toFixed(0)}/s`,
  ratio: hot.perSecond / different.perSecond,
  bound: 'ratio ≥ 0.5',
})

/** Payments that settle placed orders. No row while orders takes no payments. */
async function payments({ api, ordersUrl, workspaceId }: Place, form: (index: number) => unknown): Promise<Row[]> {
  const operation = operations(
    {} as Database,
    {} as Catalog,
    {} as FormValidator,
    {} as CheckoutApps,
    {} as Logger,
  ).find(({ method, path }) => method === 'POST' && path === '/v1/orders/{id}/payments')
  if (operation === undefined) return []
  const orders: Order[] = []
  await closedLoop(WARM_UP + 2 * RECORDED, CONCURRENCY, async (index) => {
    orders.push(await api.post<Order>('/v1/orders', form(index)))
  })
  const requests = orders.map(({ id, total_price: amount, currency }) => ({
    path: `/v1/orders/${id}/payments`,
    body: { amount, currency, reference: id, provider: 'bench' },
  }))
  const pay = (some: typeof requests) =>
    closedLoop(some.length, CONCURRENCY, (index) => api.post(some[index]?.path ?? '', some[index]?.body))
  const raw = rawSender(ordersUrl, CONCURRENCY)
  await pay(requests.slice(0, WARM_UP))
  const load = await pay(requests.slice(WARM_UP, -RECORDED))
  const others = requests.slice(-RECORDED)
  const recorded = await recordRequests(ordersUrl, {
    operation,
    pathOf: (index) => others[index]?.path ?? '',
    workspaceId,
    bodies: others.map(({ body }) => body),
    committed: 1,
  })
  const floor = await closedLoop(recorded.length, CONCURRENCY, (index) => raw.send(recorded[index] ?? []))
  await raw.stop()
  return [
    {
      name: `payment of a placed order, ${CONCURRENCY} at a time`,
      measured: rateOf(load),
      floor: `${floor.perSecond.toFixed(0)}/s`,
      ratio: load.perSecond / floor.perSecond,
      bound: 'ratio ≥ 0.4',
    },
    {
      name: 'SQL statements in orders per payment',
      measured: String(Math.max(...recorded.map(({ length }) => length))),
      bound: 'no bound',
    },
  ]
}
