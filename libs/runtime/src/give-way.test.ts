import { beforeEach, expect, it, vi } from 'vitest'
import { backgroundTime, lettingOthersRun } from './give-way.ts'

/** The time by the clock of these tests, which work and rests move on. */
let now = 0
let requestsCome = false
let yields = 0
let rests: number[] = []
let { backgroundWork, restsAreOver } = backgroundTime(() => requestsCome)

function pass(ms: number): void {
  now += ms
}

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const soon = (call: () => void) => void Promise.resolve().then(call)
  vi.spyOn(globalThis, 'setImmediate').mockImplementation(((call: () => void) => {
    yields++
    soon(call)
  }) as typeof setImmediate)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((call: () => void, ms: number) => {
    rests.push(ms)
    pass(ms)
    soon(call)
  }) as typeof setTimeout)
  requestsCome = false
  const own = backgroundTime(() => requestsCome)
  backgroundWork = own.backgroundWork
  restsAreOver = own.restsAreOver
  rests = []
  yields = 0
})

/** How long the next piece of background work waits. */
async function restsLast(): Promise<number> {
  const startedAt = now
  await restsAreOver()
  return now - startedAt
}

it('lets others run after each slice of two milliseconds, not before', async () => {
  for (const begin of [lettingOthersRun, () => backgroundWork().giveWay]) {
    yields = 0
    const giveWay = begin()
    for (let slice = 0; slice < 3; slice++) {
      pass(1)
      await giveWay()
      expect(yields).toBe(slice)
      pass(1)
      await giveWay()
      expect(yields).toBe(slice + 1)
    }
  }
  expect(rests).toEqual([])
})

it('while requests come, a piece of background work rests as long as it works, and a request that computes does not', async () => {
  requestsCome = true
  const [request, { giveWay }] = [lettingOthersRun(), backgroundWork()]
  pass(5)
  await request()
  expect([yields, rests]).toEqual([1, []])
  await giveWay()
  pass(30)
  await giveWay()
  // As long as it waited for a lock.
  pass(900)
  await giveWay()
  expect(rests).toEqual([5, 30, 100])
})

it('while requests come, the pieces rest four times as long as they work altogether, the rest of it after their ends', async () => {
  requestsCome = true
  for (let piece = 0; piece < 3; piece++) {
    const { giveWay, end } = backgroundWork()
    pass(10)
    await giveWay()
    pass(5)
    end()
  }
  // Each piece owes 60 ms and has rested for 10. Of the 150 ms left, 25 pass in each of the two later pieces.
  expect(await restsLast()).toBe(3 * 50 - 2 * 25)
})

it('a piece that took long is followed by two seconds of rest, unless no requests come any more', async () => {
  requestsCome = true
  const long = backgroundWork()
  pass(10_000)
  long.end()
  expect(await restsLast()).toBe(2000)
  long.end()
  requestsCome = false
  expect(await restsLast()).toBe(0)
})

it('what is done without requests leaves no rests for the time when they come', async () => {
  for (let piece = 0; piece < 100; piece++) {
    const { end } = backgroundWork()
    pass(1000)
    end()
  }
  requestsCome = true
  expect(await restsLast()).toBe(0)
})
