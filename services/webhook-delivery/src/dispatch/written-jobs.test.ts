import { expect, test, vi } from 'vitest'
import { aJob } from '../scheduling/testing/a-job.ts'
import { WrittenJobs } from './written-jobs.ts'

test('what a process has written is taken once for each endpoint, in its order, with its own token only', () => {
  const [mine, others] = [new WrittenJobs(), new WrittenJobs()]
  const jobs = [aJob('a'), aJob('b'), aJob('a')]
  const token = mine.keep(jobs)
  expect(others.take(token, 'a')).toBeUndefined()
  expect(mine.take(undefined, 'a')).toBeUndefined()
  expect(mine.take(token, 'a')).toEqual([jobs[0], jobs[2]])
  expect(mine.take(token, 'a')).toBeUndefined()
  expect(mine.take(token, 'b')).toEqual([jobs[1]])
  expect(mine.keep(jobs)).not.toBe(token)
})

test('what was never committed is forgotten after half a minute, and nothing before', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const written = new WrittenJobs()
    const first = written.keep([aJob('a')])
    vi.advanceTimersByTime(20_000)
    const second = written.keep([aJob('a')])
    vi.advanceTimersByTime(15_000)
    written.expire()
    expect(written.take(first, 'a')).toBeUndefined()
    expect(written.take(second, 'a')).toHaveLength(1)
  } finally {
    vi.useRealTimers()
  }
})

test('a delivery that was read before its commit is heard of is not taken again', () => {
  const written = new WrittenJobs()
  const [read, unread] = [aJob('a'), aJob('a')]
  const token = written.keep([read, unread])
  written.forget(read.deliveryId)
  expect(written.take(token, 'a')).toEqual([unread])
})
