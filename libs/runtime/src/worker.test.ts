import { setTimeout as pause } from 'node:timers/promises'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import { createLogger } from './logger.ts'
import { metricsText } from './metrics.ts'
import { Tasks } from './tasks.ts'
import { worker } from './worker.ts'
import { failsAlone } from './worker-failures.ts'

const logger = createLogger('test', 'silent')

test('goes on after a failure, resting in between', async () => {
  const { promise: third, resolve } = Promise.withResolvers<void>()
  let times = 0
  const part = worker({
    name: 'counting',
    everyMs: 1,
    logger,
    work: async () => {
      times++
      if (times === 3) resolve()
      throw new Error('no luck')
    },
  })
  await part.start?.()
  await third
  await part.stop?.()
  expect(times).toBeGreaterThanOrEqual(3)
})

test('rests as long as the work says', async () => {
  let times = 0
  const part = worker({
    name: 'resting',
    everyMs: 1,
    logger,
    work: async () => {
      times++
      return 60_000
    },
  })
  await part.start?.()
  await pause(20)
  await part.stop?.()
  expect(times).toBe(1)
})

test('stopping waits for the work under way, which sees that it is to end', async () => {
  let isDone = false
  const part = worker({
    name: 'slow',
    everyMs: 1,
    logger,
    work: async (stopping) => {
      while (!stopping.aborted) await pause(1)
      isDone = true
    },
  })
  await part.start?.()
  await part.stop?.()
  expect(isDone).toBe(true)
})

test('the end of a task wakes the worker, and stopping waits for tasks that go on', async () => {
  const tasks = new Tasks<string>()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const seen: string[][] = []
  const part = worker({
    name: 'with tasks',
    everyMs: 60_000,
    logger,
    tasks,
    work: async () => {
      seen.push(tasks.items)
      if (seen.length > 1) return
      tasks.begin('first', () => first.promise)
      tasks.begin('second', () => second.promise)
    },
  })
  await part.start()
  first.resolve()
  await expect.poll(() => seen).toEqual([[], ['second']])
  let hasStopped = false
  const stopping = part.stop().then(() => {
    hasStopped = true
  })
  await pause(20)
  expect(hasStopped).toBe(false)
  second.resolve()
  await stopping
  expect(tasks.size).toBe(0)
})

test('an item that fails is counted, and the next one has its turn', async () => {
  const done: string[] = []
  for (const id of ['a', 'b', 'c']) {
    await failsAlone(logger, 'items', { workspace_id: id }, async () => {
      if (id === 'b') throw new Error('refused')
      done.push(id)
    })
  }
  expect(done).toEqual(['a', 'c'])
  expect(await metricsText()).toMatch(/^worker_failures_total\{worker="items"\} 1$/m)
})

test.each(['the run', 'an item of it'])(
  'a worker with an hour between its runs works again in a minute when %s fails',
  async (what) => {
    vi.useFakeTimers()
    let runs = 0
    const fail = () => Promise.reject(new Error('no luck'))
    const part = worker({
      name: `hourly: ${what}`,
      everyMs: 3_600_000,
      logger,
      work: async () => {
        runs++
        if (runs > 2) return
        await (what === 'the run' ? fail() : failsAlone(logger, `hourly: ${what}`, {}, fail))
      },
    })
    await part.start()
    whenDone(async () => {
      await part.stop()
      vi.useRealTimers()
    })
    await vi.advanceTimersByTimeAsync(120_000)
    expect(runs).toBe(3)
    await vi.advanceTimersByTimeAsync(3_599_000)
    expect(runs).toBe(3)
  },
)

/** A worker that finds nothing every 100 ms, and how often it has looked. */
async function aLookingWorker() {
  vi.useFakeTimers()
  const looks = { count: 0 }
  const part = worker({
    name: 'looking',
    everyMs: 100,
    logger,
    work: async () => {
      looks.count++
    },
  })
  await part.start?.()
  whenDone(async () => {
    await part.stop?.()
    vi.useRealTimers()
  })
  /** The looks within so many milliseconds. */
  const within = async (ms: number) => {
    const before = looks.count
    await vi.advanceTimersByTimeAsync(ms)
    return looks.count - before
  }
  return { part, within }
}

test('looks seldom once its process has handled nothing for ten seconds, and as before from the next request on', async () => {
  const { part, within } = await aLookingWorker()
  part.rouse()
  expect(await within(10_000)).toBeGreaterThanOrEqual(99)
  expect(await within(60_000)).toBeLessThanOrEqual(13)
  part.rouse()
  expect(await within(100)).toBeGreaterThanOrEqual(1)
  expect(await within(10_000)).toBeGreaterThanOrEqual(98)
})

test('never rests in a process that does not say when it handles something', async () => {
  const { within } = await aLookingWorker()
  expect(await within(60_000)).toBeGreaterThanOrEqual(599)
})
