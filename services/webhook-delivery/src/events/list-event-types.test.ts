import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { send } = await webhookDelivery()

/** The names that the specification shows, and those of its families (OP-68). */
const NAMES = [
  ...['product.created', 'product.updated', 'product.deleted'],
  ...['collection.created', 'collection.updated', 'collection.deleted'],
  ...['category.created', 'category.updated', 'category.deleted'],
  ...['tag.created', 'tag.deleted'],
  'bundle.updated',
  ...['customer.created', 'customer.updated'],
  ...['order.created', 'order.updated', 'order.paid'],
  'invoice.paid',
  'fulfillment.created',
  ...['component.created', 'component.updated', 'component.deleted'],
  ...['supplier.created', 'supplier.updated', 'supplier.deleted'],
  ...['expense.created', 'expense.updated', 'expense.deleted'],
  'payment_milestone_template.created',
  'payment_milestone_template.updated',
  'payment_milestone_template.deleted',
  'stock_count.closed',
  'stock_pool.adjusted',
  ...['assistant_task.created', 'assistant_task.updated'],
  'import.completed',
]

test('Webhooks 1: GET /v1/webhooks/event-types returns every subscribable name once, and not webhook.ping (OP-60)', async () => {
  const { status, body } = await send<{ event_types: string[] }>(aCaller(), 'GET', '/v1/webhooks/event-types')
  expect([status, Object.keys(body)]).toEqual([200, ['event_types']])
  expect(body.event_types).toEqual(NAMES)
})

test('Subscription 1: an endpoint can be created for each of the names, for all of them, and for ["*"]', async () => {
  for (const events of [...NAMES.map((name) => [name]), NAMES, ['*']]) {
    const body = { url: 'https://example.com/webhooks', enabled_events: events }
    const answer = await send<{ enabled_events: string[] }>(aCaller(), 'POST', '/v1/webhooks', body)
    expect([answer.status, answer.body.enabled_events]).toEqual([201, events])
  }
})
