import { expect, test } from 'vitest'
import { Targets } from '../endpoints/targets.ts'
import { matchEvents } from './matching.ts'

const occurredAt = new Date('2026-03-01T12:00:00.000Z')

/** A workspace with one endpoint for each list of events, named by its place: 0, 1, … */
function endpointsFor(subscriptions: string[][], createdAt = occurredAt): Targets {
  const targets = new Targets()
  for (const [index, events] of subscriptions.entries()) {
    const url = new URL('https://example.com')
    targets.add({ workspaceId: 'workspace', id: String(index), url, signing: undefined, createdAt }, events)
  }
  return targets
}

/** The ids of the endpoints that an event of a type goes to. */
const receiversOf = (type: string, targets: Targets): string[] =>
  matchEvents([{ key: 'product', value: { ...event, type } }], new Map([['workspace', targets]])).flatMap((matched) =>
    matched.targets.map(({ id }) => id),
  )

const event = {
  id: 'event',
  type: 'product.created',
  workspace_id: 'workspace',
  livemode: false,
  occurred_at: occurredAt.toISOString(),
  data: { a: 1 },
}

test('Subscription 1: an endpoint gets the events that enabled_events names, and no others', () => {
  const targets = endpointsFor([['tag.created', 'product.created'], ['tag.created'], []])
  expect(receiversOf('product.created', targets)).toEqual(['0'])
  expect(receiversOf('tag.created', targets)).toEqual(['0', '1'])
  expect(receiversOf('tag.deleted', targets)).toEqual([])
})

test('Subscription 1: ["*"] subscribes to all events, those that come to be later too', () => {
  const targets = endpointsFor([['*'], ['tag.created'], ['*']])
  expect(receiversOf('whatever.comes', targets)).toEqual(['0', '2'])
  expect(receiversOf('tag.created', targets).toSorted()).toEqual(['0', '1', '2'])
})

test.each([
  ['an hour before', -3_600_000, true],
  ['at the same moment', 0, true],
  ['as far after as clocks may differ', 10_000, true],
  ['later', 10_001, false],
])('an endpoint created %s the event, %i ms, gets it: %s (OP-78)', (_, ms, expected) => {
  const targets = endpointsFor([['*']], new Date(occurredAt.getTime() + ms))
  expect(receiversOf('any', targets)).toEqual(expected ? ['0'] : [])
})

test('an event goes to the endpoints of its own workspace only', () => {
  expect(matchEvents([{ key: 'product', value: event }], new Map([['other', endpointsFor([['*']])]]))).toEqual([])
})

test('an endpoint whose secret does not open gets its deliveries: they wait (OP-107)', () => {
  const targets = endpointsFor([['*']])
  expect(targets.get('0')?.signing).toBeUndefined()
  expect(receiversOf('product.created', targets)).toEqual(['0'])
})

test('Delivery 1: the body is one envelope, {id, type, timestamp, livemode, data} (OP-61)', () => {
  const [matched] = matchEvents([{ key: 'product', value: event }], new Map([['workspace', endpointsFor([['*']])]]))
  expect(matched?.body).toBe(
    '{"id":"event","type":"product.created","timestamp":"2026-03-01T12:00:00.000Z","livemode":false,"data":{"a":1}}',
  )
})
