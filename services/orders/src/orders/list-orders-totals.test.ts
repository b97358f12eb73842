import type { Order } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { untilServed } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'
import { lockOrder, type OrderRecord } from './order.ts'
import type { OrderList } from './testing/order-lists.ts'
import { writeOrder } from './write-order.ts'

let now = new Date('2026-03-01T11:59:00Z')
const { admin, catalog, db, send, workerUrl, createOrder } = await ordersService({ clock: () => now })
const worker = openDatabase({ url: workerUrl, applicationName: 'counts', poolSize: 4 })
whenDone(() => worker.stop?.())
const merge = () => mergeBatch(worker.sql, 'order_count')

const list = async (caller: Caller, query = '') => (await send<OrderList>(caller, 'GET', `/v1/orders?${query}`)).body
const totals = (caller: Caller, ...queries: string[]) =>
  Promise.all(queries.map(async (query) => (await list(caller, query)).total))

/** Changes an order as its operations do. */
const change = (caller: Caller, { id }: Order, members: Partial<OrderRecord>) =>
  db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => {
    const order = await lockOrder(tx, id)
    await writeOrder(tx, { ...order, ...members, updatedAt: now })
  })

it('an order is listed as it was answered, by the time of its creation (OP-43, OP-140)', async () => {
  const caller = aCaller()
  const customer = { firstname: 'Ada', lastname: 'Byron', email: 'ada@example.com' }
  const first = await createOrder(caller, { customer, sales_channel: 'web' })
  now = new Date('2026-03-01T12:01:00Z')
  const second = await createOrder(caller, { sales_channel: 'web' })
  expect((await list(caller)).items).toEqual([second, first])
  expect((await list(caller, `customer=${first.customer?.id}`)).items).toEqual([first])
  expect((await list(caller, 'since=2026-03-01T12:01:00Z')).items).toEqual([second])
  expect((await list(caller, 'until=2026-03-01T12:01:00Z&since=2026-03-01T11:59:00Z')).items).toEqual([first])
  now = new Date('2026-03-01T13:00:00Z')
  await change(caller, first, { note: 'Call first' })
  expect((await list(caller, 'sort_by=updatedAt')).items.map(({ id }) => id)).toEqual([first.id, second.id])
  expect((await list(caller)).items.map(({ id }) => id)).toEqual([second.id, first.id])
})

it('totals follow creates and changes of each status, merged or not (OP-140)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller, { sales_channel: 'web' })
  await createOrder(caller, { sales_channel: 'shop', status: 'PLACED' })
  const queries = [
    '',
    'status=CART',
    'status=PLACED',
    'sales_channel=web',
    'sales_channel=web&status=CART',
    'payment_status=PAID',
  ]
  expect(await totals(caller, ...queries)).toEqual([2, 1, 1, 1, 1, 0])
  await merge()
  expect(await totals(caller, ...queries)).toEqual([2, 1, 1, 1, 1, 0])
  now = new Date('2026-03-02T09:00:00Z')
  await change(caller, order, { status: 'PLACED', paymentStatus: 'PAID', fulfillmentStatus: 'FULFILLED' })
  expect(await totals(caller, ...queries, 'fulfillment_status=FULFILLED')).toEqual([2, 0, 2, 1, 0, 1, 1])
  await merge()
  expect(await totals(caller, ...queries, 'fulfillment_status=FULFILLED')).toEqual([2, 0, 2, 1, 0, 1, 1])
})

it('totals are exact after creates and changes of state at once, while changes are merged (OP-140)', async () => {
  const caller = aCaller()
  const { id: variant } = await catalog.addVariant(caller)
  const form = { currency: 'EUR', items: [{ variant, quantity: 1 }], sales_channel: 'web' }
  const create = async () => {
    const { status, body } = await untilServed(() => send<Order>(caller, 'POST', '/v1/orders', form))
    expect(status).toBe(201)
    return body
  }
  const carts = await Promise.all(Array.from({ length: 30 }, create))
  now = new Date('2026-03-02T10:00:00Z')
  await Promise.all(
    carts.flatMap((order, index) => [
      change(caller, order, { status: index % 3 === 0 ? 'CANCELLED' : 'PLACED' }),
      change(caller, order, { note: 'Call first' }),
      merge(),
      create(),
    ]),
  )
  expect(await totals(caller, '', 'status=CART', 'status=CANCELLED', 'sort_by=updatedAt&status=CANCELLED')).toEqual([
    60, 30, 10, 10,
  ])
  await merge()
  expect(await totals(caller, '', 'sales_channel=web&status=CANCELLED', 'since=2026-03-02T09:30:00Z')).toEqual([
    60, 10, 30,
  ])
})

it('an order that is not written, or a change that is undone, counts nothing', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  const undone = db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => {
    await writeOrder(tx, { ...(await lockOrder(tx, order.id)), status: 'CANCELLED' })
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await totals(caller, '', 'status=CART', 'status=CANCELLED')).toEqual([1, 1, 0])
})

it('the rows of changes are merged into few, and none is left', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  for (let round = 0; round < 20; round++) await change(caller, order, { status: round % 2 === 0 ? 'PLACED' : 'CART' })
  while ((await merge()) > 0);
  expect(await admin`select from order_change where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  // Of an hour and a day, of creation and of change: what there is of the one status, without what was of the other.
  const kept = await admin`select from order_count where workspace_id = ${caller.workspaceId} and orders <> 0`
  expect(kept).toHaveLength(4)
})
