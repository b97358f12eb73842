import { expect, test } from 'vitest'
import type { Target } from '../endpoints/endpoint-directory.ts'
import { isMatch, matchEvents } from './matching.ts'

const occurredAt = new Date('2026-03-01T12:00:00.000Z')
const target = (enabledEvents: string[], createdAt = occurredAt): Target => ({
  workspaceId: 'workspace',
  id: 'endpoint',
  url: new URL('https://example.com'),
  signing: { keys: [], isStandardToo: false },
  enabledEvents: new Set(enabledEvents),
  createdAt,
})
const event = {
  id: 'event',
  type: 'product.created',
  workspace_id: 'workspace',
  livemode: false,
  occurred_at: occurredAt.toISOString(),
  data: { a: 1 },
}

test('an endpoint gets the events it asked for', () => {
  expect(isMatch(target(['tag.created', 'product.created']), 'product.created', occurredAt)).toBe(true)
  expect(isMatch(target(['tag.created']), 'product.created', occurredAt)).toBe(false)
})

test('["*"] gets every event (spec: Subscription)', () => {
  expect(isMatch(target(['*']), 'whatever.comes', occurredAt)).toBe(true)
})

test.each([
  ['an hour before', -3_600_000, true],
  ['at the same moment', 0, true],
  ['as far after as clocks may differ', 10_000, true],
  ['later', 10_001, false],
])('an endpoint created %s the event: %i ms, gets it: %s', (_, ms, expected) => {
  expect(isMatch(target(['*'], new Date(occurredAt.getTime() + ms)), 'any', occurredAt)).toBe(expected)
})

test('an event goes to the endpoints of its own workspace only', () => {
  const workspaces = new Map([['other', new Map([['endpoint', target(['*'])]])]])
  expect(matchEvents([{ key: 'product', value: event }], workspaces)).toEqual([])
})

test('the body is the envelope: id, type, timestamp, livemode, data (OP-61)', () => {
  const workspaces = new Map([['workspace', new Map([['endpoint', target(['*'])]])]])
  const [matched] = matchEvents([{ key: 'product', value: event }], workspaces)
  expect(matched?.body).toBe(
    '{"id":"event","type":"product.created","timestamp":"2026-03-01T12:00:00.000Z","livemode":false,"data":{"a":1}}',
  )
})
