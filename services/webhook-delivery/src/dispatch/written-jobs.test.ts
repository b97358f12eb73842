import { expect, test, vi } from 'vitest'
import type { Job } from '../scheduling/job.ts'
import { aJob } from '../scheduling/testing/a-job.ts'
import { WrittenJobs } from './written-jobs.ts'

function wrote(written: WrittenJobs, jobs: readonly Job[]): string {
  const begun = written.begin()
  begun.wrote(jobs)
  return begun.token
}

test('what a process has written is taken once for each endpoint, in its order, with its own token only', () => {
  const [mine, others] = [new WrittenJobs(), new WrittenJobs()]
  const jobs = [aJob('a'), aJob('b'), aJob('a')]
  const token = wrote(mine, jobs)
  expect(others.take(token, 'a')).toBeUndefined()
  expect(mine.take(undefined, 'a')).toBeUndefined()
  expect(mine.take(token, 'a')).toEqual([jobs[0], jobs[2]])
  expect(mine.take(token, 'a')).toBeUndefined()
  expect(mine.take(token, 'b')).toEqual([jobs[1]])
  expect(wrote(mine, jobs)).not.toBe(token)
})

test('what was never committed is forgotten after half a minute, and nothing before', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const written = new WrittenJobs()
    const first = wrote(written, [aJob('a')])
    vi.advanceTimersByTime(20_000)
    const second = wrote(written, [aJob('a')])
    vi.advanceTimersByTime(15_000)
    written.expire()
    expect(written.take(first, 'a')).toBeUndefined()
    expect(written.take(second, 'a')).toHaveLength(1)
  } finally {
    vi.useRealTimers()
  }
})

test('what was read early is kept for half a minute, though an answer is always to come', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const written = new WrittenJobs()
    const [former, recent] = [aJob('a'), aJob('a')]
    const lost = written.begin()
    written.forget(former.deliveryId)
    vi.advanceTimersByTime(20_000)
    const begun = written.begin()
    written.forget(recent.deliveryId)
    vi.advanceTimersByTime(15_000)
    written.expire()
    begun.wrote([former, recent])
    expect(written.take(begun.token, 'a')).toEqual([former])
    lost.wrote([])
  } finally {
    vi.useRealTimers()
  }
})

test('a delivery that was read before its commit is heard of is not taken again, nor one that was read before the answer', () => {
  const written = new WrittenJobs()
  const [read, unread, early] = [aJob('a'), aJob('a'), aJob('a')]
  const begun = written.begin()
  written.forget(early.deliveryId)
  begun.wrote([read, unread, early])
  written.forget(read.deliveryId)
  expect(written.take(begun.token, 'a')).toEqual([unread])
})

test('a delivery whose body was redacted since is read from the table, with those of its endpoint behind it (OP-139)', () => {
  const written = new WrittenJobs()
  const begun = written.begin()
  const [former, other] = [aJob('a', { eventId: 'former' }), aJob('b')]
  written.noteRedacted({ workspaceId: 'another', eventIds: ['event'] })
  written.noteRedacted({ workspaceId: former.target.workspaceId, eventIds: ['former'] })
  begun.wrote([former, aJob('a'), other])
  expect(written.take(begun.token, 'a')).toBeUndefined()
  expect(written.take(begun.token, 'b')).toEqual([other])
})

test('who hears of a commit before its answer waits for the answer, and not for one that is lost', async () => {
  const written = new WrittenJobs()
  const [first, lost] = [written.begin(), written.begin()]
  const answered = written.untilAnswered(first.token)
  const jobs = [aJob('a')]
  first.wrote(jobs)
  await answered
  expect(written.untilAnswered(first.token)).toBeUndefined()
  expect(written.take(first.token, 'a')).toEqual(jobs)
  await written.untilAnswered(lost.token)
  expect(written.take(lost.token, 'a')).toBeUndefined()
  lost.wrote(jobs)
  expect(written.take(lost.token, 'a')).toBeUndefined()
  expect(written.untilAnswered('of another process')).toBeUndefined()
})
