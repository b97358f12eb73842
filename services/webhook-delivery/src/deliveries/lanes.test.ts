import { describe, expect, test } from 'vitest'
import type { Job } from './job.ts'
import { Lanes } from './lanes.ts'
import { LATER_SLOTS } from './limits.ts'
import { aJob, many } from './testing/a-job.ts'

const QUICK = { durationMs: 10, isDelivered: true }
const TIMED_OUT = { durationMs: 20_000, isDelivered: false }
const SECOND = 1000

function lanesWith(...added: Job[]): Lanes {
  const lanes = new Lanes()
  for (const job of added) lanes.add(job, 0)
  return lanes
}

function startAll(lanes: Lanes, now = 0): Job[] {
  const started: Job[] = []
  for (let job = lanes.start(now); job !== undefined; job = lanes.start(now)) started.push(job)
  return started
}

function endAll(lanes: Lanes, jobs: readonly Job[], ended = QUICK, now = 0): void {
  for (const job of jobs) {
    lanes.end(job, now, ended)
    lanes.forget(job)
  }
}

/** Makes endpoints known to answer quickly, with ten attempts in flight at most. */
function warmUp(lanes: Lanes, endpoints: readonly string[], workspaceId?: string): void {
  for (const endpointId of endpoints) {
    for (const job of many(8, () => aJob(endpointId, {}, workspaceId))) {
      lanes.add(job, 0)
      endAll(lanes, startAll(lanes))
    }
  }
}

const endpointsOf = (jobs: readonly Job[]) => jobs.map(({ target }) => target.id)
const retry = (endpointId: string, workspaceId?: string) => aJob(endpointId, { attemptsMade: 1 }, workspaceId)

test('endpoints of a workspace take turns', () => {
  const lanes = lanesWith(...['a', 'a', 'b', 'b', 'c'].map((endpointId) => aJob(endpointId)))
  expect(endpointsOf(startAll(lanes))).toEqual(['a', 'b', 'c', 'a', 'b'])
})

test('workspaces take turns, however many endpoints one has', () => {
  const lanes = lanesWith(...many(100, (index) => aJob(`a ${index}`, {}, 'A')), aJob('b', {}, 'B'), aJob('c', {}, 'C'))
  expect(endpointsOf(startAll(lanes).slice(0, 3)).toSorted()).toEqual(['a 0', 'b', 'c'])
})

test('an endpoint that answers has ten attempts in flight; one that ends as quickly makes room for two', () => {
  const lanes = new Lanes()
  warmUp(lanes, ['a'])
  for (const job of many(15, () => aJob('a'))) lanes.add(job, 0)
  const started = startAll(lanes)
  expect(started).toHaveLength(10)
  endAll(lanes, started.slice(0, 1))
  expect(startAll(lanes)).toHaveLength(2)
})

describe('first attempts about one thing (OP-74)', () => {
  test('start one after the other, in their order', () => {
    const own = many(3, () => aJob('a', { key: 'product' }))
    const lanes = lanesWith(...own)
    for (const expected of own) {
      expect(startAll(lanes)).toEqual([expected])
      lanes.end(expected, 0, QUICK)
    }
  })

  test('delay nothing about other things, nor other endpoints', () => {
    const [other, elsewhere] = [aJob('a'), aJob('b', { key: 'product' })]
    const lanes = lanesWith(aJob('a', { key: 'product' }), aJob('a', { key: 'product' }), other, elsewhere)
    expect(startAll(lanes)).toEqual(expect.arrayContaining([other, elsewhere]))
  })

  test('do not hold up retries', () => {
    const again = aJob('a', { key: 'product', attemptsMade: 1 })
    const lanes = lanesWith(aJob('a', { key: 'product' }), again)
    expect(startAll(lanes)).toContain(again)
  })
})

describe('retries and resends', () => {
  test('come after the first attempts of their endpoint, and of others', () => {
    const lanes = new Lanes()
    warmUp(lanes, ['a', 'b'])
    for (const job of [retry('a'), retry('b'), aJob('a'), aJob('b')]) lanes.add(job, 0)
    expect(startAll(lanes).map(({ attemptsMade }) => attemptsMade)).toEqual([0, 0, 1, 1])
  })

  test.each([
    ['quick', QUICK],
    ['slow', TIMED_OUT],
  ])('get a turn now and then while first attempts go on coming, to an endpoint that is %s', (_, ended) => {
    const lanes = lanesWith(...many(10, () => retry('a')), ...many(80, () => aJob('a')))
    const attempts = many(40, () => {
      const job = lanes.start(0)
      if (job) endAll(lanes, [job], ended)
      return job?.attemptsMade
    })
    const retries = attempts.filter((attemptsMade) => attemptsMade === 1).length
    expect(retries).toBeGreaterThanOrEqual(4)
    expect(retries).toBeLessThanOrEqual(6)
  })

  const manyRetries = (lanes: Lanes) => {
    const endpoints = many(500, (index) => `endpoint ${index}`)
    warmUp(lanes, endpoints)
    for (const endpointId of endpoints) lanes.add(retry(endpointId), 0)
  }

  test('have few slots at first, and more with each write of attempts that is quick', () => {
    const lanes = new Lanes()
    manyRetries(lanes)
    const atFirst = startAll(lanes).length
    expect(atFirst).toBeLessThanOrEqual(LATER_SLOTS.least)
    for (let write = 0; write < 100; write++) lanes.noteWrite(5, 10)
    expect(atFirst + startAll(lanes).length).toBeGreaterThan(LATER_SLOTS.least + 50)
  })

  test('of one workspace leave some of them to another', () => {
    const lanes = new Lanes()
    warmUp(lanes, ['another'], 'another workspace')
    manyRetries(lanes)
    startAll(lanes)
    lanes.add(retry('another', 'another workspace'), 0)
    expect(endpointsOf(startAll(lanes))).toEqual(['another'])
  })
})

describe('an endpoint that ends no attempt for a second', () => {
  test('has half as many in flight with every second', () => {
    const lanes = new Lanes()
    warmUp(lanes, ['a'])
    for (const job of many(40, () => aJob('a'))) lanes.add(job, 0)
    const flying = startAll(lanes)
    for (const second of [1, 2, 3, 4]) lanes.noteSilence(second * SECOND)
    expect(lanes.paceOf('a')).toMatchObject({ standing: 'slow', width: 1 })
    endAll(lanes, flying.slice(0, 9), TIMED_OUT, 20 * SECOND)
    expect(startAll(lanes, 20 * SECOND)).toEqual([])
    endAll(lanes, flying.slice(9), TIMED_OUT, 20 * SECOND)
    expect(startAll(lanes, 20 * SECOND)).toHaveLength(1)
  })

  test('is remembered as slow when nothing is held for it any more', () => {
    const lanes = lanesWith(aJob('a'))
    const flying = startAll(lanes)
    lanes.noteSilence(2 * SECOND)
    endAll(lanes, flying, TIMED_OUT, 20 * SECOND)
    expect(lanes.get('a')).toBeUndefined()
    for (const job of many(3, () => aJob('a'))) lanes.add(job, 60 * SECOND)
    expect(startAll(lanes)).toHaveLength(1)
  })
})

test('what is withdrawn does not start, in flight or not', () => {
  const [flying, behind, waiting] = [aJob('a', { key: 'one' }), aJob('a', { key: 'one' }), aJob('b')]
  const lanes = lanesWith(flying, behind)
  startAll(lanes)
  lanes.add(waiting, 0)
  expect(lanes.withdraw((lane) => lane.withdraw(() => true))).toEqual(expect.arrayContaining([behind, waiting]))
  endAll(lanes, [flying])
  expect(startAll(lanes)).toEqual([])
})

test('what is trimmed are retries first, then the newest first attempts: those about one thing keep their order (OP-74)', () => {
  const jobs = ['one', 'one', 'two', 'one', 'two'].map((key) => aJob('a', { key }))
  const again = retry('a')
  const lanes = lanesWith(...jobs, again)
  const flying = startAll(lanes)
  expect(flying).toEqual([jobs[0], jobs[2]])
  const trimmed = lanes.withdraw((lane) => lane.trim(1))
  expect(trimmed).toHaveLength(3)
  expect(trimmed).toEqual(expect.arrayContaining([again, jobs[3], jobs[4]]))
  endAll(lanes, flying)
  expect(startAll(lanes)).toEqual([jobs[1]])
})

test('when nothing is held any more nothing is counted', () => {
  const lanes = new Lanes()
  const empty = structuredClone(lanes.all)
  warmUp(lanes, ['a'])
  for (const job of [aJob('a'), aJob('b'), retry('b'), retry('a')]) lanes.add(job, 0)
  endAll(lanes, startAll(lanes), TIMED_OUT)
  expect({ ...lanes.all }).toEqual({ ...empty })
  expect(lanes.loadOf('workspace')).toBeUndefined()
})
