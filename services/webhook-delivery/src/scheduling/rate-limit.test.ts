import { expect, test } from 'vitest'
import { RateLimit } from './rate-limit.ts'

/** A limit of an endpoint that is this process's for long. */
function aLimit(perSecond: number | undefined, since = Number.NEGATIVE_INFINITY): RateLimit {
  const limit = new RateLimit(since)
  limit.perSecond = perSecond
  return limit
}

/** When requests begin until `end`, if one may be made at every one of `times`. */
function startsAt(limit: RateLimit, times: Iterable<number>): number[] {
  const starts: number[] = []
  for (const now of times) {
    if (limit.nextAt(now) > now) continue
    limit.noteSent({}, now)
    starts.push(now)
  }
  return starts
}

function* everyMs(from: number, until: number) {
  for (let now = from; now < until; now++) for (let each = 0; each < 3; each++) yield now
}

const mostInAnySecond = (starts: readonly number[]) =>
  Math.max(...starts.map((from) => starts.filter((at) => at >= from && at < from + 1000).length))

test('without a limit every request may begin', () => {
  expect(startsAt(aLimit(undefined), everyMs(0, 10))).toHaveLength(30)
})

test.each([1, 2, 7, 100, 1000])('%i requests begin within any second, and no fewer', (perSecond) => {
  const starts = startsAt(aLimit(perSecond), everyMs(0, 5000))
  expect(starts).toHaveLength(5 * perSecond)
  expect(mostInAnySecond(starts)).toBe(perSecond)
})

test('the limit holds for any second, not for those of the clock', () => {
  const limit = aLimit(5)
  const starts = startsAt(limit, [900, 910, 920, 930, 940, 1000, 1899, 1900, 1909, 1910, 1940])
  expect(starts).toEqual([900, 910, 920, 930, 940, 1900, 1910, 1940])
})

test('the next time is known exactly', () => {
  const limit = aLimit(2)
  for (const now of [100.5, 250]) limit.noteSent({}, now)
  expect(limit.nextAt(300)).toBe(1100.5)
  limit.noteSent({}, 1100.5)
  expect(limit.nextAt(1100.5)).toBe(1250)
})

test('a limit that is lowered counts what was sent before, one that is raised lets more begin', () => {
  const limit = aLimit(4)
  for (const now of [0, 10, 20, 30]) limit.noteSent({}, now)
  limit.perSecond = 2
  expect(limit.nextAt(500)).toBe(1020)
  limit.perSecond = 6
  expect(limit.nextAt(500)).toBeLessThanOrEqual(500)
})

test('the second before a take-over counts as full: the former owner may have sent as many', () => {
  const [before, after] = [aLimit(5), aLimit(5, 400)]
  const starts = [...startsAt(before, everyMs(0, 400)), ...startsAt(after, everyMs(400, 4000))]
  expect(after.nextAt(400)).toBeGreaterThanOrEqual(1400)
  expect(mostInAnySecond(starts)).toBe(5)
})

test('a Retry-After holds with a limit and without one; a shorter one does not end a longer one', () => {
  for (const perSecond of [undefined, 100]) {
    const limit = aLimit(perSecond)
    limit.hold(5000)
    limit.hold(300)
    expect(limit.nextAt(0)).toBe(5000)
    expect(startsAt(limit, [4999, 5000])).toEqual([5000])
  }
})

test('a request whose turn it was takes a place until it is sent, and from then on for a second', () => {
  const limit = aLimit(2)
  const [first, second] = [{}, {}]
  limit.noteStart(first)
  limit.noteSent(first, 100)
  limit.noteStart(second)
  expect(limit.nextAt(900)).toBe(1100)
  limit.noteStart({})
  expect(limit.nextAt(5000)).toBe(Number.POSITIVE_INFINITY)
  limit.noteSent(second, 400)
  expect(limit.nextAt(900)).toBe(1400)
})
