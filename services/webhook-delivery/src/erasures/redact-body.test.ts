import { randomUUID } from 'node:crypto'
import { Customer } from '@backoffice/contracts/customer.ts'
import { EventRecord, RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import { Order } from '@backoffice/contracts/order.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { envelopeOf } from '../events/matching.ts'
import { anEvent } from '../testing/webhooks-api.ts'
import { PERSONAL_EVENT_TYPES, redactBody } from './redact-body.ts'
import { aCustomer, anOrder } from './testing/personal-data.ts'

const bodyOf = (type: string, data: unknown) => envelopeOf(EventRecord.parse(anEvent(aCaller(), { type, data })))
const customer = aCustomer()
const erased = new Set([randomUUID(), customer.id])

const CUSTOMER_EVENTS = ['customer.created', 'customer.updated']
const ORDER_EVENTS = ['order.created', 'order.updated', 'order.paid']

/** The members that differ from those before. */
const changed = (before: object, after: object) =>
  Object.entries(before).flatMap(([member, value]) => (Object.is(value, Reflect.get(after, member)) ? [] : [member]))

test.each(CUSTOMER_EVENTS)('%s keeps its shape without the person (OP-139)', (type) => {
  const body = bodyOf(type, customer)
  const redacted = redactBody(type, body, erased) ?? expect.fail('unchanged')
  expect(redacted).not.toContain('Ada')
  const [before, { data, ...envelope }] = [JSON.parse(body), JSON.parse(redacted)]
  expect({ ...envelope, data: before.data }).toEqual(before)
  expect(Object.keys(JSON.parse(redacted))).toEqual(Object.keys(before))
  expect(Object.keys(data)).toEqual(Object.keys(customer))
  expect(changed(customer, Customer.parse(data))).toEqual(['firstname', 'lastname', 'email', 'phone', 'note'])
})

test.each(ORDER_EVENTS)('%s keeps its shape without the customer, the address and the note (OP-139)', (type) => {
  const order = anOrder(customer)
  const redacted = redactBody(type, bodyOf(type, order), erased) ?? expect.fail('unchanged')
  expect(redacted).not.toContain('Ada')
  const { data } = JSON.parse(redacted)
  expect(Order.parse(data)).toEqual({ ...order, customer: null, shipping_address: null, note: null })
  expect(Object.keys(data)).toEqual(Object.keys(order))
})

test('a new member of an order, or a new event of orders, is decided on: personal or not', () => {
  expect(Object.keys(Order.shape).sort()).toEqual(
    `currency customer fulfillment_status id items note order_datetime order_number payment_status promise_date sales_channel
     shipping_address status subtotal_price total_discount total_items total_price total_shipping total_tax`.split(
      /\s+/,
    ),
  )
  const withoutPersonalData = ['invoice.paid', 'fulfillment.created']
  expect([...PERSONAL_EVENT_TYPES, ...withoutPersonalData].sort()).toEqual(
    Object.keys(RECORDS[TOPICS.ordersEvents]).sort(),
  )
})

test('a member of a customer that only a later release knows is removed', () => {
  const body = bodyOf('customer.updated', { ...customer, nickname: 'Ada' })
  expect(JSON.parse(redactBody('customer.updated', body, erased) ?? '{}').data.nickname).toBeNull()
})

test.each<[string, string, unknown]>([
  ['another customer', 'customer.updated', aCustomer({ note: `a friend of ${customer.id}` })],
  ['an order of another', 'order.paid', anOrder(aCustomer(), { note: customer.id })],
  ['an order without a customer', 'order.created', anOrder(null, { note: customer.id })],
  ['another type', 'invoice.paid', { id: customer.id, customer: { id: customer.id } }],
])('%s stays as it is', (_, type, data) => {
  expect(redactBody(type, bodyOf(type, data), erased)).toBeUndefined()
})
