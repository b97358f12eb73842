import { describe, expect, test } from 'vitest'
import { shardOf } from '../shards/shard-of.ts'
import { EndpointQueues } from './endpoint-queues.ts'
import { CAPACITY, CAPACITY_BYTES } from './limits.ts'
import { bytesToRead, mayHold, roomForFresh, roomToRead, waitingAtMost } from './room.ts'
import { aJob, many } from './testing/a-job.ts'

const MIB = 1024 * 1024
const QUICK = { durationMs: 10, isDelivered: true }
const MINUTE = 60_000

/** How many fresh jobs of an endpoint have room. */
const roomFor = (queues: EndpointQueues, endpointId: string, workspaceId?: string) =>
  roomForFresh(
    queues,
    many(CAPACITY, () => aJob(endpointId, { body: Buffer.alloc(0) }, workspaceId)),
    0,
  )

/** Queues that know endpoints to answer quickly. */
function queuesKnowing(endpointIds: readonly string[], workspaceOf = (_index: number) => 'workspace'): EndpointQueues {
  const queues = new EndpointQueues()
  for (const [index, endpointId] of endpointIds.entries()) {
    const job = aJob(endpointId, {}, workspaceOf(index))
    queues.add(job, 0)
    queues.start(0)
    queues.end(job, 0, QUICK)
    queues.forget(job)
  }
  return queues
}

describe('fresh first attempts', () => {
  const fill = (queues: EndpointQueues, endpointId: string, workspaceId?: string, bytes = 100) => {
    const body = Buffer.alloc(bytes)
    for (;;) {
      const job = aJob(endpointId, { body }, workspaceId)
      if (roomForFresh(queues, [job], 0) === 0) return
      queues.add(job, 0)
    }
  }

  test('leave room for another endpoint however many fill their share', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 50; endpoint++) fill(queues, `endpoint ${endpoint}`, `workspace ${endpoint}`)
    expect(roomFor(queues, 'another', 'another')).toBeGreaterThan(0)
    expect(roomFor(queues, 'another', 'another')).toBeLessThan(CAPACITY / 8)
  })

  test('leave room for another workspace, a quarter of all beside one with a thousand endpoints', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 1000; endpoint++) fill(queues, `endpoint ${endpoint}`)
    expect(queues.all.held).toBeGreaterThan(CAPACITY / 2)
    expect(CAPACITY - queues.all.held).toBeGreaterThanOrEqual(CAPACITY / 4)
    expect(roomFor(queues, 'another', 'another')).toBeGreaterThan(100)
    expect(roomToRead(queues, 'another', 0)).toBeGreaterThan(0)
  })

  test('leave room in bytes as well', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 1000; endpoint++) fill(queues, `endpoint ${endpoint}`, undefined, MIB)
    expect(queues.all.bytes).toBeLessThanOrEqual(CAPACITY_BYTES)
    expect(roomFor(queues, 'another', 'another')).toBeGreaterThan(0)
  })

  test('are few for an endpoint that is slow, and for all of them a quarter', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 2000; endpoint++) {
      queues.assumeSlow(`slow ${endpoint}`)
      fill(queues, `slow ${endpoint}`, `workspace ${endpoint}`)
    }
    expect(queues.get('slow 0')?.held).toBe(4)
    expect(queues.all.held).toBe(CAPACITY / 4)
  })

  test('are as many as there is room for: the first of them, so that none overtakes another (OP-74)', () => {
    const room = roomFor(new EndpointQueues(), 'a')
    expect(room).toBeGreaterThan(100)
    expect(room).toBeLessThanOrEqual(CAPACITY / 8)
  })

  test('are as many as have room for their bodies', () => {
    const room = (...sizes: number[]) =>
      roomForFresh(
        new EndpointQueues(),
        sizes.map((size) => aJob('a', { body: Buffer.alloc(size * MIB) })),
        0,
      )
    expect([room(), room(3), room(3, 30, 1), room(3, 2, 1), room(33)]).toEqual([0, 1, 1, 2, 0])
  })

  test('have room again when others are forgotten', () => {
    const queues = queuesKnowing(['a'])
    const room = () => [roomFor(queues, 'a'), bytesToRead(queues)]
    const before = room()
    queues.add(aJob('a'), 0)
    expect(room()).not.toEqual(before)
    const job = queues.start(0)
    if (job) queues.end(job, 0, QUICK)
    if (job) queues.forget(job)
    expect(room()).toEqual(before)
  })
})

describe('an endpoint that asked for a pause', () => {
  const ASKED = { durationMs: 10, isDelivered: false, retryAfterMs: MINUTE }
  const waitsFor = (queues: EndpointQueues, count: number) => {
    const [job, ...others] = many(count, () => aJob('a'))
    for (const each of job ? [job, ...others] : []) queues.add(each, 0)
    const started = queues.start(0)
    if (started) queues.end(started, 0, ASKED)
    if (started) queues.forget(started)
  }

  test('keeps nothing in memory meanwhile, and a few when it is nearly over', () => {
    const queues = queuesKnowing(['a'])
    waitsFor(queues, 100)
    const queue = queues.get('a')
    if (queue === undefined) throw new Error('no queue')
    expect([0, MINUTE - 2001, MINUTE - 2000, MINUTE].map((now) => waitingAtMost(queue, now))).toEqual([
      0,
      0,
      2,
      Number.POSITIVE_INFINITY,
    ])
    queues.withdraw((each) => each.trim(waitingAtMost(each, 0)))
    expect(queues.all.held).toBe(0)
    const rooms = (now: number) => [
      roomToRead(queues, 'a', now),
      roomForFresh(queues, [aJob('a'), aJob('a'), aJob('a')], now),
    ]
    expect([0, MINUTE - 1000, MINUTE].map(rooms)).toEqual([
      [0, 0],
      [2, 2],
      [6, 3],
    ])
  })

  test('has no more in flight after it than when it asked, whatever the others in flight brought', () => {
    const queues = queuesKnowing(['a'])
    for (const job of many(20, () => aJob('a'))) queues.add(job, 0)
    const [asking, ...others] = many(3, () => queues.start(0))
    if (asking) queues.end(asking, 0, ASKED)
    for (const other of others) if (other) queues.end(other, 0, QUICK)
    expect(others.filter(Boolean)).toHaveLength(2)
    expect(queues.concurrencyOf('a').limit).toBe(2)
  })

  test('with a limit of requests per second it keeps those of two seconds, and of a low one four', () => {
    const queues = new EndpointQueues()
    const { target, ...job } = aJob('a')
    for (let n = 0; n < 20; n++)
      queues.add({ ...job, deliveryId: `limited ${n}`, target: { ...target, requestsPerSecond: 5 } }, 0)
    queues.withdraw((each) => each.trim(waitingAtMost(each, 0)))
    expect(queues.all.held).toBe(10)
    expect([roomToRead(queues, 'a', 0), roomForFresh(queues, [aJob('a')], 0)]).toEqual([0, 0])
    queues.withdraw((each) => each.trim(2))
    expect([
      roomToRead(queues, 'a', 0),
      roomForFresh(
        queues,
        many(9, () => aJob('a')),
        0,
      ),
    ]).toEqual([4, 8])
    for (const each of many(9, (n) => ({ ...job, deliveryId: `of one ${n}` })))
      queues.add({ ...each, target: { ...target, requestsPerSecond: 1 } }, 0)
    queues.withdraw((each) => each.trim(waitingAtMost(each, 0)))
    expect(queues.all.held).toBe(4)
  })
})

describe('readings', () => {
  test('are as many as keep an endpoint busy, a few for one that is slow or not known', () => {
    const queues = queuesKnowing(['quick'])
    queues.assumeSlow('slow')
    expect(['quick', 'slow', 'new'].map((endpointId) => roomToRead(queues, endpointId, 0))).toEqual([64, 4, 6])
  })

  test('are none for an endpoint that has more than half of them, until it has fewer', () => {
    const queues = queuesKnowing(['a'])
    for (const job of many(40, () => aJob('a', { attemptsMade: 1 }))) queues.add(job, 0)
    expect(roomToRead(queues, 'a', 0)).toBe(0)
    queues.withdraw((queue) => queue.trim(10))
    expect(roomToRead(queues, 'a', 0)).toBe(54)
  })

  test('leave half of the memory to fresh events, and one workspace’s some to another’s', () => {
    const endpoints = many(500, (index) => `endpoint ${index}`)
    const queues = queuesKnowing([...endpoints, 'another'], (index) => (index < endpoints.length ? 'one' : 'other'))
    for (const endpointId of endpoints) {
      for (let room = roomToRead(queues, endpointId, 0); room > 0; room = roomToRead(queues, endpointId, 0)) {
        for (const job of many(room, () => aJob(endpointId, { attemptsMade: 1 }, 'one'))) queues.add(job, 0)
      }
    }
    expect(queues.all.held).toBeGreaterThan(CAPACITY / 4)
    expect(queues.all.held).toBeLessThan(CAPACITY / 2)
    expect(roomToRead(queues, 'another', 0)).toBeGreaterThan(0)
  })

  test('have half of the bytes, and always a quarter of those that are left', () => {
    const queues = new EndpointQueues()
    const addMiB = (count: number) => {
      for (const job of many(count, (index) => aJob(`endpoint ${index}`, { body: Buffer.alloc(MIB) }, `w ${index}`)))
        queues.add(job, 0)
    }
    expect(bytesToRead(queues)).toBe(CAPACITY_BYTES / 2)
    addMiB(10)
    expect(bytesToRead(queues)).toBe(6 * MIB)
    addMiB(10)
    expect(bytesToRead(queues)).toBe(3 * MIB)
    addMiB(20)
    expect(bytesToRead(queues)).toBe(0)
  })
})

describe('large bodies to endpoints of a workspace that hang', () => {
  const BYTES = MIB + MIB / 4
  const ENDPOINTS = many(21, (index) => `hanging ${index}`)
  /** Adds fresh events of each endpoint, as long as there is room. */
  const fill = (queues: EndpointQueues) => {
    for (const endpointId of many(5, () => ENDPOINTS).flat()) {
      const job = aJob(endpointId, { body: Buffer.alloc(BYTES) }, 'hanging')
      if (roomForFresh(queues, [job], 0) > 0) queues.add(job, 0)
    }
  }
  const start = (queues: EndpointQueues) => {
    while (queues.start(0) !== undefined);
    for (const second of [1, 2, 3]) queues.noteStall(second * 1000)
  }
  const expectRoomForOthers = (queues: EndpointQueues, ...endpointIds: string[]) => {
    expect(bytesToRead(queues)).toBeGreaterThan(MIB)
    for (const endpointId of endpointIds) {
      expect(roomToRead(queues, endpointId, 0), endpointId).toBeGreaterThan(0)
      expect(roomFor(queues, endpointId, 'other')).toBeGreaterThan(0)
    }
  }

  test('count once for each event, however many endpoints get it', () => {
    const queues = queuesKnowing(['known'], () => 'other')
    const body = Buffer.alloc(BYTES)
    for (const endpointId of ENDPOINTS) queues.add(aJob(endpointId, { body }, 'hanging'), 0)
    expect(queues.all).toMatchObject({ held: 21, bytes: BYTES, unprovenBytes: BYTES })
    start(queues)
    expectRoomForOthers(queues, 'known', 'new')
    queues.drop(new Set(ENDPOINTS.map(shardOf)))
    expect(queues.all).toMatchObject({ held: 0, bytes: 0, unprovenBytes: 0 })
  })

  test('leave room to the endpoints of others, known to answer or not', () => {
    const queues = queuesKnowing(['known'], () => 'other')
    fill(queues)
    expect(queues.all.bytes).toBeLessThanOrEqual(CAPACITY_BYTES / 4)
    expectRoomForOthers(queues, 'known', 'new')
    start(queues)
    expectRoomForOthers(queues, 'known', 'new')
    expect(mayHold(queues, aJob('of them', {}, 'hanging').target)).toBe(false)
    expect(mayHold(queues, aJob('new', {}, 'other').target)).toBe(true)
  })

  test('leave room to those that answer also when they answered before', () => {
    const queues = queuesKnowing(['known', ...ENDPOINTS], (index) => (index === 0 ? 'other' : 'hanging'))
    fill(queues)
    expect(queues.all.bytes).toBeGreaterThan(CAPACITY_BYTES / 2)
    start(queues)
    expect(queues.all.unprovenBytes).toBe(queues.all.bytes)
    expectRoomForOthers(queues, 'known')
  })
})
