import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../harness.ts'

const { send } = await webhookDelivery()

test('every subscribable name is listed once, and webhook.ping is not (spec: Webhooks; OP-60)', async () => {
  const answer = await send<{ event_types: string[] }>(aCaller(), 'GET', '/v1/webhooks/event-types')
  expect(answer.status).toBe(200)
  const names = answer.body.event_types
  expect(names).toEqual(expect.arrayContaining(['product.created', 'order.paid', 'invoice.paid', 'import.completed']))
  expect(names).not.toContain('webhook.ping')
  expect(new Set(names).size).toBe(names.length)
})
