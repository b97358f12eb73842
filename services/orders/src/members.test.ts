import type { BatchResult } from '@backoffice/contracts/batches.ts'
import { CUSTOMER, type Customer } from '@backoffice/contracts/customer.ts'
import { ORDER, ORDER_ITEM, type Order, PAYMENT, type Payment } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { missingMembers, sampleMembers } from '@backoffice/testing/member-places.ts'
import { expect, it } from 'vitest'
import { eraseBatch } from './erasures/erase-customers.ts'
import { applyImportBatches } from './imports/importers.ts'
import { ordersService } from './testing/orders-api.ts'

/* Every declared member is where its declaration says, whoever sends it. A new member needs no line here. */

const service = await ordersService()
const { admin, db, catalog, send, recordsOf } = service
const { outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

/** The row of a table, with the values of JSON columns. */
const rowOf = async (table: string, id: string) =>
  (
    await admin<
      { row: Record<string, unknown> }[]
    >`select to_jsonb(found) as row from ${admin(table)} found where id = ${id}`
  )[0]?.row
const lastEvent = async (id: string) => (await recordsOf(id)).at(-1)?.data as Record<string, unknown>
const only = <Shape extends object>(shape: Shape, name: string) =>
  Object.fromEntries(Object.entries(shape).filter(([one]) => one === name))

async function createCustomer(caller: Caller) {
  const sent = sampleMembers(CUSTOMER, CUSTOMER.shapes.create, 0)
  const { status, body } = await send<Customer>(caller, 'POST', '/v1/customers', sent)
  expect(status).toBe(201)
  return { sent, id: body.id }
}

async function missingOfCustomer(caller: Caller, id: string, sent: object, { isImported = false } = {}) {
  const { body } = await send<Customer>(caller, 'GET', `/v1/customers/${id}`)
  // Imports fire no events (OP-72).
  const event = isImported ? undefined : await lastEvent(id)
  return missingMembers(
    CUSTOMER,
    { ...sent },
    { answer: body, row: await rowOf('customer', id), ...(event && { event }) },
  )
}

it('a create and an update of a customer set every member', async () => {
  const caller = aCaller()
  const { id, sent } = await createCustomer(caller)
  expect(await missingOfCustomer(caller, id, sent)).toEqual([])
  const changes = sampleMembers(CUSTOMER, CUSTOMER.shapes.update, 1)
  expect((await send(caller, 'PUT', `/v1/customers/${id}`, changes)).status).toBe(200)
  expect(await missingOfCustomer(caller, id, changes)).toEqual([])
})

it.each(CUSTOMER.inputs)('an update of the %s of a customer alone sets it and nothing else', async (name) => {
  const caller = aCaller()
  const { id, sent } = await createCustomer(caller)
  const change = sampleMembers(CUSTOMER, only(CUSTOMER.shapes.update, name), 1)
  expect((await send(caller, 'PUT', `/v1/customers/${id}`, change)).status).toBe(200)
  expect(await missingOfCustomer(caller, id, { ...sent, ...change })).toEqual([])
})

it('rows of a batch set every member of new customers and of known ones (OP-275)', async () => {
  const caller = aCaller()
  for (const n of [0, 1]) {
    const row = { ...sampleMembers(CUSTOMER, CUSTOMER.shapes.create, n), email: 'ada@example.com' }
    const { body } = await send<{ results: BatchResult[] }>(caller, 'POST', '/v1/customers/batch', { rows: [row] })
    expect(body.results).toMatchObject([{ status: ['created', 'updated'][n] }])
    expect(await missingOfCustomer(caller, body.results[0]?.id ?? '', row)).toEqual([])
  }
})

it('rows of imports set every column of new customers and of known ones', async () => {
  const caller = aCaller()
  const email = 'ada@example.com'
  for (const [n, outcome] of ['created', 'updated'].entries()) {
    const row = { ...sampleMembers(CUSTOMER, CUSTOMER.shapes.imported, n), email }
    expect(await outcomes(caller, 'customers', [row])).toEqual([outcome])
    const [customer] = await admin<{ id: string }[]>`select id from customer where workspace_id = ${caller.workspaceId}`
    expect(await missingOfCustomer(caller, customer?.id ?? '', row, { isImported: true })).toEqual([])
  }
})

const EURO = { currency: 'EUR' }

/** Creates an order of one line with a sample of each member. */
async function createOrder(caller: Caller, form: object = {}) {
  const sent = { ...sampleMembers(ORDER, ORDER.shapes.create, 0), ...EURO }
  const line = sampleMembers(ORDER_ITEM, ORDER_ITEM.shapes.create, 0)
  const variant = (await catalog.addVariant(caller)).id
  const body = { ...sent, items: [{ ...line, variant }], ...form }
  const answer = await send<Order>(caller, 'POST', '/v1/orders', body)
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
  return { sent, line: { ...line, variant }, id: answer.body.id }
}

async function missingOfOrder(caller: Caller, id: string, sent: object, line: object) {
  const { body } = await send<Order>(caller, 'GET', `/v1/orders/${id}`)
  const event = (await lastEvent(id)) as Order
  const item = body.items[0]
  return [
    ...missingMembers(ORDER, { ...sent }, { answer: body, row: await rowOf('sales_order', id), event }),
    ...missingMembers(
      ORDER_ITEM,
      { ...line },
      { answer: item, row: await rowOf('order_item', item?.id ?? ''), event: event.items[0] },
    ),
  ]
}

it('a create of an order sets every member of it and of its items, and an update those that may change', async () => {
  const caller = aCaller()
  const { id, sent, line } = await createOrder(caller)
  expect(await missingOfOrder(caller, id, sent, line)).toEqual([])
  const changes = { ...sampleMembers(ORDER, ORDER.shapes.update, 1), status: 'CANCELLED' }
  expect((await send(caller, 'PUT', `/v1/orders/${id}`, changes)).status).toBe(200)
  expect(await missingOfOrder(caller, id, { ...sent, ...changes }, line)).toEqual([])
})

it.each(Object.keys(ORDER.shapes.update))(
  'an update of the %s of an order alone sets it and nothing else',
  async (name) => {
    const caller = aCaller()
    const { id, sent, line } = await createOrder(caller)
    const change = sampleMembers(ORDER, only(ORDER.shapes.update, name), 1)
    expect((await send(caller, 'PUT', `/v1/orders/${id}`, change)).status).toBe(200)
    expect(await missingOfOrder(caller, id, { ...sent, ...change }, line)).toEqual([])
  },
)

it('the erasure of its customer removes every personal member of an order and leaves the others (OP-130)', async () => {
  const caller = aCaller()
  const { id, sent } = await createOrder(caller, { customer: { firstname: 'Ada' } })
  const { body } = await send<Order>(caller, 'GET', `/v1/orders/${id}`)
  await send(caller, 'DELETE', `/v1/customers/${body.customer?.id}`)
  const context = { ...caller, traceparent: 'trace' }
  while (await db.inWorkspace(context, (tx) => eraseBatch(tx, new Date())));
  const personal = Object.entries(ORDER.members).filter(([, member]) => 'personal' in member)
  const erased = Object.fromEntries(personal.map(([name]) => [name, null]))
  const answer = (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
  expect(missingMembers(ORDER, { ...sent, ...erased }, { answer, row: await rowOf('sales_order', id) })).toEqual([])
})

it('a payment has every member that is sent', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const sent = { ...sampleMembers(PAYMENT, PAYMENT.shapes.create, 0), ...EURO }
  const { status, body } = await send<Payment>(caller, 'POST', `/v1/orders/${id}/payments`, sent)
  expect(status).toBe(201)
  expect(missingMembers(PAYMENT, sent, { answer: body, row: await rowOf('payment', body.id) })).toEqual([])
})
