import { expect, it } from 'vitest'
import { EVENT_CATALOGUE, EVENT_TOPICS, EVENT_TYPES, exampleOfEvent, RECORDS } from './events.ts'

it('has every event name', () => {
  expect(EVENT_TYPES.filter((name) => !EVENT_CATALOGUE.has(name))).toEqual([])
})

it('has no event that two topics carry, and none that cannot be subscribed to', () => {
  const published = EVENT_TOPICS.flatMap((topic) => Object.keys(RECORDS[topic]))
  const carried = [...EVENT_CATALOGUE].filter(([, { topic }]) => topic !== undefined)
  expect(carried.map(([name]) => name)).toEqual(published)
  expect(EVENT_TYPES).toEqual(expect.arrayContaining(published))
})

it('has an example of the data of each event', () => {
  for (const [type, { record }] of EVENT_CATALOGUE) {
    expect([type, record.shape.data.safeParse(exampleOfEvent(type)).error?.issues]).toEqual([type, undefined])
  }
})

it.each([
  ['order.created', { status: 'CART' }],
  ['order.updated', { status: 'PLACED', payment_status: 'UNPAID' }],
  ['order.paid', { status: 'PLACED', payment_status: 'PAID' }],
  ['webhook.endpoint.failing', { state: 'FAILING', reason: 'no_success' }],
  ['webhook.endpoint.disabled', { state: 'DISABLED', reason: 'no_success' }],
  ['webhook.endpoint.recovered', { state: 'ACTIVE', reason: null }],
])('has an example of %s as it fires', (type, data) => {
  expect(exampleOfEvent(type)).toMatchObject(data)
})

it.each(['category', 'component', 'supplier', 'payment_milestone_template'])(
  'has an example of a deleted %s with all its members',
  (resource) => {
    expect(exampleOfEvent(`${resource}.deleted`)).toEqual(exampleOfEvent(`${resource}.created`))
  },
)
