import { beforeEach, expect, it, vi } from 'vitest'
import { lettingOthersRun, requestsFirst } from './give-way.ts'
import { noteRequest } from './recent-requests.ts'

/** The time by this test's clock, which rests and yields move on. */
let now = 0
const rests: number[] = []
let yields = 0
vi.mock('node:timers/promises', () => ({
  setImmediate: async () => {
    yields++
  },
  setTimeout: async (ms: number) => {
    rests.push(ms)
    now += ms
  },
}))

beforeEach(() => {
  // Requests and rests of the test before are over.
  now += 60_000
  rests.length = 0
  yields = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})

const work = (ms: number) => {
  now += ms
}

it('lets others run after each slice of two milliseconds, not before', async () => {
  for (const begin of [lettingOthersRun, requestsFirst]) {
    yields = 0
    const giveWay = begin()
    for (let slice = 0; slice < 3; slice++) {
      work(1)
      await giveWay()
      expect(yields).toBe(slice)
      work(1)
      await giveWay()
      expect(yields).toBe(slice + 1)
    }
  }
  expect(rests).toEqual([])
})

it('while requests come, background work rests four times as long as it worked, and a request that computes does not', async () => {
  const [request, background] = [lettingOthersRun(), requestsFirst()]
  noteRequest()
  work(5)
  await request()
  expect([yields, rests]).toEqual([1, []])
  await background()
  expect(rests).toEqual([20])
  // As long as it waited for a lock.
  work(900)
  noteRequest()
  await background()
  expect(rests).toEqual([20, 200])
})

it('pieces of background work rest one after the other, so that all of them together take a fifth of the time', async () => {
  noteRequest()
  for (let piece = 0; piece < 3; piece++) {
    const giveWay = requestsFirst()
    work(10)
    const restingSince = now
    await giveWay()
    // The next piece begins while this one rests.
    now = restingSince
  }
  // 10 ms of work, then 40 ms for each piece that has worked, less what has passed since.
  expect(rests).toEqual([40, 40 + 40 - 10, 40 + 40 + 40 - 20])
})

it('a piece of background work rests two seconds altogether', async () => {
  const giveWay = requestsFirst()
  for (let slice = 0; slice < 100; slice++) {
    noteRequest()
    work(25)
    await giveWay()
  }
  expect(rests).toEqual(Array.from({ length: 20 }, () => 100))
  expect(yields).toBe(80)
})

it('what imports asks is no request that background work makes room for', async () => {
  noteRequest({ url: '/internal/imports/check' })
  const giveWay = requestsFirst()
  work(5)
  await giveWay()
  noteRequest({ url: '/v1/products' })
  work(5)
  await giveWay()
  expect([yields, rests.length]).toEqual([1, 1])
})
