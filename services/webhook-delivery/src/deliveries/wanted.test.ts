import { expect, test } from 'vitest'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { CAPACITY } from '../scheduling/limits.ts'
import type { Wanted } from './claims.ts'
import { aJob, many } from './testing/a-job.ts'
import { readWaitingDeliveries } from './testing/read-waiting-deliveries.ts'
import type { WaitingDeliveries } from './waiting-deliveries.ts'
import { wantedFrom } from './wanted.ts'

const NOW = new Date(1000)

function waitingFor(endpointIds: readonly string[]): WaitingDeliveries {
  const waitingDeliveries = readWaitingDeliveries()
  for (const endpointId of endpointIds) waitingDeliveries.note(endpointId, NOW)
  return waitingDeliveries
}

/** Queues that know endpoints to answer quickly. */
function queuesKnowing(
  endpointIds: readonly string[],
  workspaceOf: (index: number) => string = () => 'one',
): EndpointQueues {
  const queues = new EndpointQueues()
  for (const [index, endpointId] of endpointIds.entries()) {
    const job = aJob(endpointId, {}, workspaceOf(index))
    queues.add(job, 0)
    queues.start(0)
    queues.end(job, 0, { durationMs: 10, isDelivered: true })
    queues.forget(job)
  }
  return queues
}

const jobsOf = ({ firstAttempts, repeats }: Wanted) => firstAttempts + repeats
const allJobs = (wanted: readonly Wanted[]) => wanted.reduce((sum, each) => sum + jobsOf(each), 0)

test('as many are claimed for an endpoint as keep it busy, for one that is slow or not known a few', () => {
  const queues = queuesKnowing(['quick'])
  queues.assumeSlow('slow')
  expect(wantedFrom(waitingFor(['quick', 'slow', 'new']), queues, NOW)).toEqual([
    { endpointId: 'quick', firstAttempts: 0, repeats: 64 },
    { endpointId: 'slow', firstAttempts: 0, repeats: 4 },
    { endpointId: 'new', firstAttempts: 0, repeats: 6 },
  ])
})

test('most are first attempts where these wait, and some of what is claimed is not, whatever waits', () => {
  const [queues, waitingDeliveries] = [queuesKnowing(['a']), readWaitingDeliveries()]
  waitingDeliveries.note('a', NOW, true)
  expect(wantedFrom(waitingDeliveries, queues, NOW)).toEqual([{ endpointId: 'a', firstAttempts: 48, repeats: 16 }])
})

test('when many endpoints have some due each gets a few, in their turns', () => {
  const endpoints = many(1000, (index) => `endpoint ${index}`)
  const [queues, waitingDeliveries] = [queuesKnowing(endpoints), waitingFor(endpoints)]
  const first = wantedFrom(waitingDeliveries, queues, NOW)
  const second = wantedFrom(waitingDeliveries, queues, NOW)
  expect(first.length).toBeGreaterThan(50)
  expect(allJobs(first)).toBeLessThan(1100)
  expect(new Set([...first, ...second].map(({ endpointId }) => endpointId)).size).toBe(first.length + second.length)
})

test('nothing is claimed for an endpoint that has enough in hand, until it is unparked', () => {
  const [queues, waitingDeliveries] = [queuesKnowing(['a']), waitingFor(['a'])]
  for (const job of many(40, () => aJob('a', { attemptsMade: 1 }))) queues.add(job, 0)
  expect(wantedFrom(waitingDeliveries, queues, NOW)).toEqual([])
  queues.withdraw((queue) => queue.trim(10))
  expect(wantedFrom(waitingDeliveries, queues, NOW)).toEqual([])
  waitingDeliveries.unpark('a')
  expect(wantedFrom(waitingDeliveries, queues, NOW)).toEqual([{ endpointId: 'a', firstAttempts: 0, repeats: 54 }])
})

test('claims leave half of the memory to fresh events, and one workspace’s some to another’s', () => {
  const endpoints = many(500, (index) => `endpoint ${index}`)
  const queues = queuesKnowing([...endpoints, 'another'], (index) => (index < endpoints.length ? 'one' : 'other'))
  for (let round = 0; round < 50; round++) {
    for (const each of wantedFrom(waitingFor(endpoints), queues, NOW)) {
      const { endpointId } = each
      for (const job of many(jobsOf(each), () => aJob(endpointId, { attemptsMade: 1 }, 'one'))) queues.add(job, 0)
    }
  }
  expect(queues.all.held).toBeGreaterThan(CAPACITY / 4)
  expect(queues.all.held).toBeLessThan(CAPACITY / 2)
  expect(wantedFrom(waitingFor(['another']), queues, NOW)).toHaveLength(1)
})
