import { expect, test } from 'vitest'
import { type FoundDelivery, judge } from './judgement.ts'

const overdueBefore = new Date('2026-03-01T12:00:00Z')
const later = new Date(overdueBefore.getTime() + 1)
const earlier = new Date(overdueBefore.getTime() - 1)
const certain = { isCertain: true, isConsumed: true }

const delivered: FoundDelivery = {
  status: 'DELIVERED',
  nextAttemptAt: null,
  isBusy: false,
  attemptsMade: 2,
  attempts: 2,
  successes: 1,
  hasEvent: true,
}
const pending: FoundDelivery = { ...delivered, status: 'PENDING', nextAttemptAt: later, successes: 0 }

test.each([
  ['a consumed event has no delivery to an endpoint that gets it: missing', certain, 'missing'],
  ['the fan-out has not come to the event: not yet consumed', { isCertain: true, isConsumed: false }, 'unconsumed'],
  [
    'the event is in the backlog of the fan-out: there',
    { isCertain: true, isConsumed: true, isInBacklog: true },
    'backlog',
  ],
  ['the endpoint may have been another then: unknown', { isCertain: false, isConsumed: true }, 'unknown'],
  ['both', { isCertain: false, isConsumed: false }, 'unconsumed'],
])('%s', (_, expected, outcome) => {
  const discrepancies = outcome === 'missing' ? ['missing'] : []
  expect(judge(expected, [], overdueBefore)).toEqual({ outcome, discrepancies })
})

test.each<[string, FoundDelivery]>([
  ['delivered with a successful attempt', delivered],
  ['delivered, and sent again without success', { ...delivered, attemptsMade: 3, attempts: 3 }],
  ['failed', { ...delivered, status: 'FAILED', successes: 0 }],
  ['pending on its schedule', pending],
  ['pending, due not long ago', { ...pending, nextAttemptAt: overdueBefore }],
  ['pending and due long ago, but in flight', { ...pending, nextAttemptAt: earlier, isBusy: true }],
])('a delivery that is %s is as it should be, whatever is known of its endpoint', (_, found) => {
  for (const isCertain of [true, false]) {
    expect(judge({ isCertain, isConsumed: false }, [found], overdueBefore)).toEqual({
      outcome: found.status,
      discrepancies: [],
    })
  }
})

test.each([
  ['waits with its endpoint', Number.POSITIVE_INFINITY, []],
  ['has waited with its endpoint until a short time ago', later.getTime(), []],
  ['has waited with its endpoint until long ago', earlier.getTime(), ['overdue']],
])('a delivery that was due long ago and %s is judged by that', (_, pausedUntil, discrepancies) => {
  const found = [{ ...pending, nextAttemptAt: earlier }]
  expect(judge({ ...certain, pausedUntil }, found, overdueBefore).discrepancies).toEqual(discrepancies)
})

test('a delivery without a time is reported also while it waits with its endpoint', () => {
  const waiting = { ...certain, pausedUntil: Number.POSITIVE_INFINITY }
  expect(judge(waiting, [{ ...pending, nextAttemptAt: null }], overdueBefore).discrepancies).toEqual(['overdue'])
})

test.each<[string, FoundDelivery[], string]>([
  ['there twice', [delivered, delivered], 'twice'],
  ['there without its event', [{ ...delivered, hasEvent: false }], 'no_event'],
  ['due long ago and not in flight', [{ ...pending, nextAttemptAt: earlier }], 'overdue'],
  ['pending without a time', [{ ...pending, nextAttemptAt: null }], 'overdue'],
  ['delivered without a successful attempt', [{ ...delivered, successes: 0 }], 'no_success'],
  ['short of an attempt', [{ ...delivered, attempts: 1 }], 'attempts'],
])('a delivery that is %s is reported', (_, found, discrepancy) => {
  expect(judge(certain, found, overdueBefore).discrepancies).toEqual([discrepancy])
})
