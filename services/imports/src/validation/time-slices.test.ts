import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { TimeSlices } from './time-slices.ts'

/** Rows each of which takes so long to compute, in milliseconds, until the test is over. */
function endless(computeMs: number) {
  const ended = new AbortController()
  whenDone(() => ended.abort())
  return async function* () {
    for (let row = 0; !ended.signal.aborted; row++) {
      for (const until = performance.now() + computeMs; performance.now() < until; );
      yield row
    }
  }
}

it('files take turns, and the process answers requests in between', async () => {
  const slices = new TimeSlices()
  const read = [0, 0, 0]
  let loops = 0
  const done = Promise.withResolvers<void>()
  const files = read.map(async (_, file) => {
    for await (const _row of slices.of(endless(3)(), new AbortController().signal)) {
      read[file] = (read[file] ?? 0) + 1
      if (read.every((rows) => rows >= 8)) done.resolve()
      if (read.some((rows) => rows >= 500)) return done.resolve()
    }
  })
  const beside = async () => {
    for (let isOver = false; !isOver; loops++) {
      isOver = await Promise.race([done.promise.then(() => true), turnOfLoop(false)])
    }
  }
  await Promise.all([beside(), done.promise])
  // A turn has four of these rows at most, so three files of eight rows have had two turns each.
  expect(loops).toBeGreaterThanOrEqual(6)
  expect(Math.max(...read)).toBeLessThan(500)
  void files
})

it('ends the rows when nobody wants more of them', async () => {
  let isEnded = false
  async function* rows() {
    try {
      yield 1
      yield 2
    } finally {
      isEnded = true
    }
  }
  for await (const _ of new TimeSlices().of(rows(), new AbortController().signal)) break
  expect(isEnded).toBe(true)
})
