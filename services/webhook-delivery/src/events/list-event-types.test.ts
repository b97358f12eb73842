import { EVENT_TYPES } from '@backoffice/contracts/events.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { send } = await webhookDelivery()

test('Webhooks 1: GET /v1/webhooks/event-types returns every subscribable name once, and not webhook.ping (OP-60)', async () => {
  const { status, body } = await send<{ event_types: string[] }>(aCaller(), 'GET', '/v1/webhooks/event-types')
  expect([status, Object.keys(body)]).toEqual([200, ['event_types']])
  expect(body.event_types).toEqual(EVENT_TYPES)
})

test('Subscription 1: an endpoint can be created for each of the names, for all of them, and for ["*"]', async () => {
  for (const events of [...EVENT_TYPES.map((name) => [name]), EVENT_TYPES, ['*']]) {
    const body = { url: 'https://example.com/webhooks', enabled_events: events }
    const answer = await send<{ enabled_events: string[] }>(aCaller(), 'POST', '/v1/webhooks', body)
    expect([answer.status, answer.body.enabled_events]).toEqual([201, events])
  }
})
