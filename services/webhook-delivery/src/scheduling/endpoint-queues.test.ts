import { describe, expect, test } from 'vitest'
import { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { REPEAT_SLOTS } from './limits.ts'
import { aJob, many } from './testing/a-job.ts'

const QUICK = { durationMs: 10, isDelivered: true }
const TIMED_OUT = { durationMs: 20_000, isDelivered: false }
const SECOND = 1000

function queuesWith(...added: Job[]): EndpointQueues {
  const queues = new EndpointQueues()
  for (const job of added) queues.add(job, 0)
  return queues
}

function startAll(queues: EndpointQueues, now = 0): Job[] {
  const started: Job[] = []
  for (let job = queues.start(now); job !== undefined; job = queues.start(now)) started.push(job)
  return started
}

function endAll(queues: EndpointQueues, jobs: readonly Job[], ended = QUICK, now = 0): void {
  for (const job of jobs) {
    queues.end(job, now, ended)
    queues.forget(job)
  }
}

/** Makes endpoints known to answer quickly, with ten attempts in flight at most. */
function warmUp(queues: EndpointQueues, endpoints: readonly string[], workspaceId?: string): void {
  for (const endpointId of endpoints) {
    for (const job of many(8, () => aJob(endpointId, {}, workspaceId))) {
      queues.add(job, 0)
      endAll(queues, startAll(queues))
    }
  }
}

const endpointsOf = (jobs: readonly Job[]) => jobs.map(({ target }) => target.id)
const retry = (endpointId: string, workspaceId?: string) => aJob(endpointId, { attemptsMade: 1 }, workspaceId)

test('endpoints of a workspace take turns', () => {
  const queues = queuesWith(...['a', 'a', 'b', 'b', 'c'].map((endpointId) => aJob(endpointId)))
  expect(endpointsOf(startAll(queues))).toEqual(['a', 'b', 'c', 'a', 'b'])
})

test('workspaces take turns, however many endpoints one has', () => {
  const queues = queuesWith(
    ...many(100, (index) => aJob(`a ${index}`, {}, 'A')),
    aJob('b', {}, 'B'),
    aJob('c', {}, 'C'),
  )
  expect(endpointsOf(startAll(queues).slice(0, 3)).toSorted()).toEqual(['a 0', 'b', 'c'])
})

test('an endpoint that answers has ten attempts in flight; one that ends as quickly makes room for two', () => {
  const queues = new EndpointQueues()
  warmUp(queues, ['a'])
  for (const job of many(15, () => aJob('a'))) queues.add(job, 0)
  const started = startAll(queues)
  expect(started).toHaveLength(10)
  endAll(queues, started.slice(0, 1))
  expect(startAll(queues)).toHaveLength(2)
})

describe('first attempts about one thing (OP-74)', () => {
  test('start one after the other, in their order', () => {
    const own = many(3, () => aJob('a', { key: 'product' }))
    const queues = queuesWith(...own)
    for (const expected of own) {
      expect(startAll(queues)).toEqual([expected])
      queues.end(expected, 0, QUICK)
    }
  })

  test('delay nothing about other things, nor other endpoints', () => {
    const [other, elsewhere] = [aJob('a'), aJob('b', { key: 'product' })]
    const queues = queuesWith(aJob('a', { key: 'product' }), aJob('a', { key: 'product' }), other, elsewhere)
    expect(startAll(queues)).toEqual(expect.arrayContaining([other, elsewhere]))
  })

  test('wait for all of those that are in flight elsewhere', () => {
    const [over, sent, next] = many(3, () => aJob('a', { key: 'product' })) as [Job, Job, Job]
    const queues = new EndpointQueues()
    for (const job of [over, sent]) queues.addInFlight(job, 0)
    queues.add(next, 0)
    queues.endUnmade(over, 0)
    expect(startAll(queues)).toEqual([])
    queues.endUnmade(sent, 0)
    expect(startAll(queues)).toEqual([next])
  })

  test('do not hold up retries', () => {
    const again = aJob('a', { key: 'product', attemptsMade: 1 })
    const queues = queuesWith(aJob('a', { key: 'product' }), again)
    expect(startAll(queues)).toContain(again)
  })
})

describe('retries and resends', () => {
  test('come after the first attempts of their endpoint, and of others', () => {
    const queues = new EndpointQueues()
    warmUp(queues, ['a', 'b'])
    for (const job of [retry('a'), retry('b'), aJob('a'), aJob('b')]) queues.add(job, 0)
    expect(startAll(queues).map(({ attemptsMade }) => attemptsMade)).toEqual([0, 0, 1, 1])
  })

  test.each([
    ['quick', QUICK],
    ['slow', TIMED_OUT],
  ])('get a turn now and then while first attempts go on coming, to an endpoint that is %s', (_, ended) => {
    const queues = queuesWith(...many(10, () => retry('a')), ...many(80, () => aJob('a')))
    const attempts = many(40, () => {
      const job = queues.start(0)
      if (job) endAll(queues, [job], ended)
      return job?.attemptsMade
    })
    const retries = attempts.filter((attemptsMade) => attemptsMade === 1).length
    expect(retries).toBeGreaterThanOrEqual(4)
    expect(retries).toBeLessThanOrEqual(6)
  })

  const manyRetries = (queues: EndpointQueues) => {
    const endpoints = many(500, (index) => `endpoint ${index}`)
    warmUp(queues, endpoints)
    for (const endpointId of endpoints) queues.add(retry(endpointId), 0)
  }

  test('have few slots at first, and more with each write of attempts that is quick', () => {
    const queues = new EndpointQueues()
    manyRetries(queues)
    const atFirst = startAll(queues).length
    expect(atFirst).toBeLessThanOrEqual(REPEAT_SLOTS.least)
    for (let write = 0; write < 100; write++) queues.noteWrite(5, 10)
    expect(atFirst + startAll(queues).length).toBeGreaterThan(REPEAT_SLOTS.least + 50)
  })

  test('of one workspace leave some of them to another', () => {
    const queues = new EndpointQueues()
    warmUp(queues, ['another'], 'another workspace')
    manyRetries(queues)
    startAll(queues)
    queues.add(retry('another', 'another workspace'), 0)
    expect(endpointsOf(startAll(queues))).toEqual(['another'])
  })
})

describe('an endpoint that ends no attempt for a second', () => {
  test('has half as many in flight with every second', () => {
    const queues = new EndpointQueues()
    warmUp(queues, ['a'])
    for (const job of many(40, () => aJob('a'))) queues.add(job, 0)
    const flying = startAll(queues)
    for (const second of [1, 2, 3, 4]) queues.noteStall(second * SECOND)
    expect(queues.concurrencyOf('a')).toMatchObject({ responsiveness: 'slow', limit: 1 })
    endAll(queues, flying.slice(0, 9), TIMED_OUT, 20 * SECOND)
    expect(startAll(queues, 20 * SECOND)).toEqual([])
    endAll(queues, flying.slice(9), TIMED_OUT, 20 * SECOND)
    expect(startAll(queues, 20 * SECOND)).toHaveLength(1)
  })

  test('is remembered as slow when nothing is held for it any more', () => {
    const queues = queuesWith(aJob('a'))
    const flying = startAll(queues)
    queues.noteStall(2 * SECOND)
    endAll(queues, flying, TIMED_OUT, 20 * SECOND)
    expect(queues.get('a')).toBeUndefined()
    for (const job of many(3, () => aJob('a'))) queues.add(job, 60 * SECOND)
    expect(startAll(queues)).toHaveLength(1)
  })
})

test('an endpoint keeps deliveries waiting while it has asked for a pause, has a limit or as many in flight as it may have, and until it is resumed', () => {
  const { target } = aJob('limited')
  const limited = many(2, () => aJob('limited', { target: { ...target, requestsPerSecond: 1 } }))
  const queues = queuesWith(...['quick', 'asked', 'hanging'].map((id) => aJob(id)), ...limited)
  const endOf = ({ target: { id } }: Job) => (id === 'asked' ? { ...QUICK, retryAfterMs: 5 * SECOND } : QUICK)
  for (const job of startAll(queues)) if (job.target.id !== 'hanging') queues.end(job, 0, endOf(job))
  queues.noteStall(2 * SECOND)
  queues.noteResumed('resumed', SECOND)
  const endpoints = ['quick', 'new', 'asked', 'hanging', 'limited', 'resumed']
  const since = endpoints.map((id) => queues.sinceKept(id, 3 * SECOND) / SECOND)
  expect(since).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -2, 1, 3, 2])
})

test('what waits for an attempt with its key is kept waiting by its endpoint; what has room is not', () => {
  const queues = queuesWith(aJob('one key', { key: 'one' }), aJob('one key', { key: 'one' }), aJob('room'))
  startAll(queues)
  queues.noteStall(SECOND / 2)
  const since = ['one key', 'room'].map((id) => queues.sinceKept(id, SECOND))
  expect(since).toEqual([SECOND / 2, Number.POSITIVE_INFINITY])
})

test('what is withdrawn does not start, in flight or not', () => {
  const [flying, behind, waiting] = [aJob('a', { key: 'one' }), aJob('a', { key: 'one' }), aJob('b')]
  const queues = queuesWith(flying, behind)
  startAll(queues)
  queues.add(waiting, 0)
  expect(queues.withdraw((queue) => queue.trim(0))).toEqual(expect.arrayContaining([behind, waiting]))
  endAll(queues, [flying])
  expect(startAll(queues)).toEqual([])
})

test('what is trimmed are retries first, then the newest first attempts: those about one thing keep their order (OP-74)', () => {
  const jobs = ['one', 'one', 'two', 'one', 'two'].map((key) => aJob('a', { key }))
  const again = retry('a')
  const queues = queuesWith(...jobs, again)
  const flying = startAll(queues)
  expect(flying).toEqual([jobs[0], jobs[2]])
  const trimmed = queues.withdraw((queue) => queue.trim(1))
  expect(trimmed).toHaveLength(3)
  expect(trimmed).toEqual(expect.arrayContaining([again, jobs[3], jobs[4]]))
  endAll(queues, flying)
  expect(startAll(queues)).toEqual([jobs[1]])
})

test('when nothing is held any more nothing is counted', () => {
  const queues = new EndpointQueues()
  const empty = structuredClone(queues.all)
  warmUp(queues, ['a'])
  for (const job of [aJob('a'), aJob('b'), retry('b'), retry('a')]) queues.add(job, 0)
  endAll(queues, startAll(queues), TIMED_OUT)
  expect({ ...queues.all }).toEqual({ ...empty })
  expect(queues.loadOf('workspace')).toBeUndefined()
})
