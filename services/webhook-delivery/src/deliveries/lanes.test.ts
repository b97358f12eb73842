import { describe, expect, test } from 'vitest'
import { Backlog } from './backlog.ts'
import type { Job } from './job.ts'
import { CAPACITY, Lanes } from './lanes.ts'
import { placesIn } from './places.ts'

let jobs = 0
const aJob = (endpointId: string, differences: Partial<Job> = {}): Job => ({
  deliveryId: String(++jobs),
  eventId: 'event',
  eventType: 'product.created',
  key: `key ${jobs}`,
  occurredAt: new Date(),
  target: {
    workspaceId: 'workspace',
    id: endpointId,
    url: new URL('https://example.com'),
    signing: { keys: [], isStandardToo: false },
    createdAt: new Date(),
  },
  body: Buffer.alloc(100),
  attemptsMade: 0,
  resendsMade: 0,
  resend: undefined,
  resendAt: undefined,
  deliveredAt: undefined,
  claimedBy: 1,
  claimedAt: 0,
  ...differences,
})

function lanesWith(...added: Job[]): Lanes {
  const lanes = new Lanes()
  for (const job of added) lanes.add(job)
  return lanes
}

const startAll = (lanes: Lanes) => [...Array(1000)].map(() => lanes.start()).filter((job) => job !== undefined)

test('endpoints take turns', () => {
  const [a, b] = [aJob('a'), aJob('b')]
  const lanes = lanesWith(aJob('a'), a, aJob('b'), b, aJob('c'))
  expect(startAll(lanes).map(({ target }) => target.id)).toEqual(['a', 'b', 'c', 'a', 'b'])
})

test('an endpoint has ten attempts in flight at most; one that ends makes room for one', () => {
  const lanes = lanesWith(...[...Array(15)].map(() => aJob('a')))
  const started = startAll(lanes)
  expect(started).toHaveLength(10)
  if (started[0]) lanes.end(started[0])
  expect(startAll(lanes)).toHaveLength(1)
})

describe('first attempts about one thing (OP-74)', () => {
  test('start one after the other, in their order', () => {
    const own = [...Array(3)].map(() => aJob('a', { key: 'product' }))
    const lanes = lanesWith(...own)
    for (const expected of own) {
      expect(startAll(lanes)).toEqual([expected])
      lanes.end(expected)
    }
  })

  test('delay nothing about other things, nor other endpoints', () => {
    const [other, elsewhere] = [aJob('a'), aJob('b', { key: 'product' })]
    const lanes = lanesWith(aJob('a', { key: 'product' }), aJob('a', { key: 'product' }), other, elsewhere)
    expect(startAll(lanes)).toEqual(expect.arrayContaining([other, elsewhere]))
  })

  test('do not hold up retries', () => {
    const retry = aJob('a', { key: 'product', attemptsMade: 1 })
    const lanes = lanesWith(aJob('a', { key: 'product' }), retry)
    expect(startAll(lanes)).toContain(retry)
  })
})

test('what is withdrawn does not start, in flight or not', () => {
  const [flying, behind, waiting] = [aJob('a', { key: 'one' }), aJob('a', { key: 'one' }), aJob('b')]
  const lanes = lanesWith(flying, behind)
  startAll(lanes)
  lanes.add(waiting)
  expect(lanes.withdraw(() => true)).toEqual(expect.arrayContaining([behind, waiting]))
  lanes.end(flying)
  expect(startAll(lanes)).toEqual([])
})

test('however many endpoints fill their share, another still finds room', () => {
  const lanes = new Lanes()
  for (let endpoint = 0; endpoint < 50; endpoint++) {
    while (lanes.roomFor(`endpoint ${endpoint}`) > 0) lanes.add(aJob(`endpoint ${endpoint}`))
  }
  expect(lanes.roomFor('another')).toBeGreaterThan(0)
  expect(lanes.roomFor('another')).toBeLessThan(CAPACITY / 8)
})

test('what is forgotten makes room again', () => {
  const lanes = new Lanes()
  const before = [lanes.roomFor('a'), lanes.roomInBytes]
  const job = aJob('a')
  lanes.add(job)
  expect([lanes.roomFor('a'), lanes.roomInBytes]).not.toEqual(before)
  lanes.forget(job)
  expect([lanes.roomFor('a'), lanes.roomInBytes]).toEqual(before)
})

describe('places', () => {
  const MIB = 1024 * 1024

  test('are as many as there is room for', () => {
    const hasPlace = placesIn(new Lanes(), new Backlog())
    const given = [...Array(CAPACITY)].filter(() => hasPlace('a', 100)).length
    expect(given).toBeGreaterThan(100)
    expect(given).toBeLessThan(CAPACITY / 8)
  })

  test('are bounded in bytes, and none is given after one was refused: later events do not overtake (OP-74)', () => {
    const hasPlace = placesIn(new Lanes(), new Backlog())
    expect([60, 5, 1].map((size) => hasPlace('a', size * MIB))).toEqual([true, false, false])
    expect(hasPlace('b', MIB)).toBe(true)
  })

  test('are not given to an endpoint whose first attempts wait in the table (OP-74)', () => {
    const backlog = new Backlog()
    backlog.note('a', new Date(), true)
    backlog.note('b', new Date())
    const hasPlace = placesIn(new Lanes(), backlog)
    expect(['a', 'b'].map((endpointId) => hasPlace(endpointId, 100))).toEqual([false, true])
  })
})
