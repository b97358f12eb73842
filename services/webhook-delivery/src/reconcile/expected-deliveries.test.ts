import { expect, test } from 'vitest'
import { expectedDeliveries, type JudgedEndpoint } from './expected-deliveries.ts'

const OCCURRED_AT = '2026-03-01T12:00:00.000Z'
const event = {
  id: 'event',
  type: 'tag.created',
  workspace_id: 'workspace',
  livemode: true,
  occurred_at: OCCURRED_AT,
  data: null,
}
const after = (ms: number) => new Date(Date.parse(OCCURRED_AT) + ms)
const LONG_AGO = after(-3_600_000)

const endpoint = (differences: Partial<JudgedEndpoint>): JudgedEndpoint => ({
  workspaceId: 'workspace',
  id: 'endpoint',
  enabledEvents: ['tag.created'],
  createdAt: LONG_AGO,
  updatedAt: differences.createdAt ?? LONG_AGO,
  pausedUntil: 0,
  ...differences,
})

/** Whether the event's delivery is certain, uncertain, or not expected at all. */
function expectation(differences: Partial<JudgedEndpoint>, producedAt = after(0)) {
  const expected = [...expectedDeliveries([{ event, producedAt, isConsumed: true }], [endpoint(differences)])]
  expect(expected.length).toBeLessThanOrEqual(1)
  if (expected[0] === undefined) return 'none'
  return expected[0].isCertain ? 'certain' : 'uncertain'
}

test.each<[string, Partial<JudgedEndpoint>, string]>([
  ['asked for the event', {}, 'certain'],
  ['asked for every event', { enabledEvents: ['*'] }, 'certain'],
  ['asked for others', { enabledEvents: ['tag.deleted'] }, 'none'],
  ['is of another workspace', { workspaceId: 'other' }, 'none'],
  ['was made long after', { createdAt: after(10_001) }, 'none'],
  ['was made at about the same time', { createdAt: after(-9_999) }, 'uncertain'],
  ['was made a little later, which clocks may tell wrongly', { createdAt: after(10_000) }, 'uncertain'],
  ['was made at about the same time for other events', { createdAt: after(0), enabledEvents: ['tag.deleted'] }, 'none'],
  ['was changed well before', { updatedAt: after(-10_000) }, 'certain'],
  ['was changed well before to others', { updatedAt: after(-10_000), enabledEvents: ['tag.deleted'] }, 'none'],
  ['was changed at about the same time', { updatedAt: after(-9_999) }, 'uncertain'],
  ['was changed since', { updatedAt: after(3_600_000) }, 'uncertain'],
  ['was changed since to others', { updatedAt: after(3_600_000), enabledEvents: ['tag.deleted'] }, 'uncertain'],
  ['was made and changed since', { createdAt: after(20_000), updatedAt: after(3_600_000) }, 'none'],
])('a delivery to an endpoint that %s: %j', (_, differences, expected) => {
  expect(expectation(differences)).toBe(expected)
})

test('an event that tells a time ahead of its record came no later than the record', () => {
  const changed = { updatedAt: after(-600_000) }
  expect(expectation(changed, after(0))).toBe('certain')
  expect(expectation(changed, after(-600_000))).toBe('uncertain')
  expect(expectation(changed, after(600_000))).toBe('certain')
})
