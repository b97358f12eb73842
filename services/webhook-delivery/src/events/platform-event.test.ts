import { expect, test } from 'vitest'
import { z } from 'zod'
import { platformEvent } from './platform-event.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR = 60 * 60 * 1000
const id = '0198c7a0-0000-7000-8000-000000000001'
const PlatformEvent = platformEvent(() => new Date(now))

const anExpense = (differences: object = {}) => ({
  id,
  type: 'expense.created',
  workspace_id: id,
  livemode: true,
  occurred_at: new Date(now).toISOString(),
  data: { id, amount: 450_000 },
  ...differences,
})
const problemsOf = (event: object) =>
  PlatformEvent.safeParse(event).error?.issues.map(({ path, message }) => `${z.core.toDotPath(path)}: ${message}`) ?? []
const at = (ms: number) => ({ occurred_at: new Date(now + ms).toISOString() })
const nested = (levels: number): object => (levels === 1 ? { id } : { id, deeper: nested(levels - 1) })

test('data is passed on as it came, ids in upper case and members nobody knows included', () => {
  const data = { id: id.toUpperCase(), rate: 0.25, largest: Number.MAX_SAFE_INTEGER, lines: [{ label: 'a\0b' }] }
  expect(PlatformEvent.parse(anExpense({ data })).data).toBe(data)
})

test.each<[string, object, string]>([
  ['an unknown type', { type: 'expense.paid' }, 'type: "expense.paid" is no event of the catalogue'],
  ['webhook.ping', { type: 'webhook.ping' }, 'type: "webhook.ping" is no event of the catalogue'],
  ['a type of another topic', { type: 'product.created' }, 'type: product.created is published to catalog.events'],
  ['no workspace', { workspace_id: undefined }, 'workspace_id: is required'],
  ['an id that is no UUID', { id: 'evt_1' }, 'id: must be a UUID'],
  ['data of another shape', { data: { amount: 1 } }, 'data.id: is required'],
  ['a number that JSON lost', { data: { id, of: [1e16] } }, 'data.of[0]: is a number beyond ±(2^53−1)'],
  ['an infinite number', { data: { id, n: Number.POSITIVE_INFINITY } }, 'data.n: is a number beyond ±(2^53−1)'],
  ['a time of day without a date', { occurred_at: '12:00' }, 'occurred_at: Invalid ISO datetime'],
  ['a time more than a day ahead', at(24 * HOUR + 1), 'occurred_at: lies more than a day ahead'],
  ['a time more than 30 days back', at(-30 * 24 * HOUR - 1), 'occurred_at: lies more than 30 days back'],
])('%s is refused, naming the path', (_, differences, problem) => {
  expect(problemsOf(anExpense(differences))).toEqual([problem])
})

test.each([
  ['a day ahead', 24 * HOUR],
  ['30 days back', -30 * 24 * HOUR],
])('a time %s is taken', (_, ms) => {
  expect(problemsOf(anExpense(at(ms)))).toEqual([])
})

test('data may nest 32 levels and no more (OP-07)', () => {
  expect(problemsOf(anExpense({ data: nested(32) }))).toEqual([])
  expect(problemsOf(anExpense({ data: nested(33) }))).toEqual([expect.stringMatching(/: nests deeper than 32 levels$/)])
  expect(problemsOf(anExpense({ data: nested(5000) }))).toHaveLength(1)
})

test('members of the record itself that are not known are no reason to refuse it', () => {
  expect(problemsOf(anExpense({ member_of_a_later_version: 1 }))).toEqual([])
})
