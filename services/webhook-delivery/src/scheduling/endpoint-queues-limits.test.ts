import { describe, expect, test } from 'vitest'
import { BASE_CONCURRENCY, MAX_CONCURRENCY } from './concurrency.ts'
import { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { BURST_SLOTS, SENDING_BYTES, SLOTS, UNPROVEN_SENDING_BYTES, UNPROVEN_SLOTS } from './limits.ts'
import { aJob, many } from './testing/a-job.ts'

const SECOND = 1000

/** Queues whose clock is moved by the test. */
class World {
  readonly queues = new EndpointQueues()
  now = 0
  flying: Job[] = []

  add(...jobs: Job[]): void {
    for (const job of jobs) this.queues.add(job, this.now)
  }

  start(): Job[] {
    const started: Job[] = []
    for (let job = this.queues.start(this.now); job !== undefined; job = this.queues.start(this.now)) started.push(job)
    this.flying.push(...started)
    return started
  }

  /** Ends all that is in flight. */
  end(durationMs: number): void {
    for (const job of this.flying.splice(0)) {
      this.queues.end(job, this.now, { durationMs, isDelivered: durationMs < 20_000 })
      this.queues.forget(job)
    }
  }

  second(): void {
    this.now += SECOND
    this.queues.noteStall(this.now)
  }

  /** Makes an endpoint known to answer quickly. */
  warmUp(endpointId: string, workspaceId?: string): void {
    this.add(aJob(endpointId, {}, workspaceId))
    this.start()
    this.end(10)
  }

  /** Makes endpoints known to answer quickly however many attempts are in flight to them, and leaves jobs for each. */
  raiseLimits(endpointIds: readonly string[], workspaceOf = (endpointId: string) => endpointId): void {
    const addToAll = () => {
      for (const endpointId of endpointIds)
        this.add(...many(MAX_CONCURRENCY, () => aJob(endpointId, {}, workspaceOf(endpointId))))
    }
    for (let round = 0; round < 8; round++) {
      addToAll()
      while (this.start().length > 0) this.end(10)
    }
    addToAll()
  }

  /** Endpoints that never answer get jobs, some more of them every second, until no more start. */
  fillWithHanging(workspaceOf: (endpoint: number) => string): void {
    for (let second = 0; second < 10; second++) {
      for (const endpoint of many(500, (index) => second * 500 + index)) {
        this.add(...many(3, () => aJob(`hanging ${endpoint}`, {}, workspaceOf(endpoint))))
      }
      this.start()
      this.second()
    }
  }
}

const endpointsOf = (jobs: readonly Job[]) => jobs.map(({ target }) => target.id)

describe('many attempts in flight to endpoints that answer quickly', () => {
  const flyingTo = ({ flying }: World, endpointId: string) =>
    flying.filter(({ target }) => target.id === endpointId).length

  test('are 256 for one alone, and as many for each when several share them', () => {
    for (const [count, each] of [
      [1, MAX_CONCURRENCY],
      [4, BASE_CONCURRENCY + Math.floor(BURST_SLOTS / 5)],
    ] as const) {
      const world = new World()
      const endpointIds = many(count, (index) => `quick ${index}`)
      world.raiseLimits(endpointIds)
      world.start()
      for (const endpointId of endpointIds) {
        expect(Math.abs(flyingTo(world, endpointId) - each), `${count} endpoints`).toBeLessThanOrEqual(1)
      }
      expect(world.queues.all.burst).toBeLessThanOrEqual(BURST_SLOTS)
    }
  })

  test('are shared by workspace: the few endpoints of one leave some to another', () => {
    const world = new World()
    const endpointIds = many(8, (index) => `quick ${index}`)
    world.raiseLimits(['another'])
    world.raiseLimits(endpointIds, () => 'many')
    world.start()
    expect(world.queues.loadOf('many')?.burst).toBeGreaterThan(BURST_SLOTS / 2)
    world.add(...many(MAX_CONCURRENCY, () => aJob('another', {}, 'another')))
    world.start()
    expect(flyingTo(world, 'another')).toBeGreaterThan(50)
  })

  test('take no slot from others when they begin to hang, and these endpoints have few from then on', () => {
    const world = new World()
    const endpointIds = many(20, (index) => `quick ${index}`)
    world.raiseLimits(endpointIds)
    world.start()
    expect(world.queues.all.busy).toBe(20 * BASE_CONCURRENCY)
    world.second()
    for (const endpointId of endpointIds) {
      expect(world.queues.concurrencyOf(endpointId)).toMatchObject({ responsiveness: 'slow', limit: BASE_CONCURRENCY })
    }
    expect(world.queues.all.slow).toBe(20 * BASE_CONCURRENCY)
    expect(world.start()).toEqual([])
  })
})

describe('however many endpoints hang', () => {
  test('a quarter of the slots is left to those known to answer', () => {
    const world = new World()
    world.warmUp('healthy')
    world.fillWithHanging(String)
    expect(SLOTS - world.queues.all.busy).toBeGreaterThanOrEqual(SLOTS / 4 - 1)
    world.add(aJob('healthy'))
    expect(endpointsOf(world.start())).toEqual(['healthy'])
  })

  test('half of the slots is left to the others once it is known', () => {
    const world = new World()
    world.fillWithHanging(String)
    // Time-outs until each of them has had its attempt.
    while (world.queues.all.busy > SLOTS / 2) {
      world.now += 20 * SECOND
      world.end(20_000)
      world.start()
      world.second()
    }
    expect(world.queues.all.slow).toBe(SLOTS / 2)
    world.add(...many(100, (index) => aJob(`new ${index}`)))
    expect(world.start()).toHaveLength(100)
  })

  test('those that answered before leave slots to unknown ones of another workspace', () => {
    const world = new World()
    const endpointIds = many(SLOTS, (index) => `answered ${index}`)
    for (const endpointId of endpointIds) world.warmUp(endpointId, 'answered')
    world.add(...endpointIds.map((endpointId) => aJob(endpointId, {}, 'answered')))
    world.start()
    world.second()
    expect(world.queues.all.slow).toBeGreaterThan(UNPROVEN_SLOTS)
    world.add(aJob('new', {}, 'another'))
    expect(endpointsOf(world.start())).toEqual(['new'])
  })

  test('of one workspace, those of another get their attempts', () => {
    const world = new World()
    world.fillWithHanging(() => 'hanging')
    world.add(aJob('healthy', {}, 'healthy'))
    expect(endpointsOf(world.start())).toEqual(['healthy'])
  })
})

describe('a workspace', () => {
  const endpointsIn = (workspaceId: string) => many(SLOTS, (index) => `${workspaceId} ${index}`)
  const warmUp = (world: World, workspaceId: string) => {
    for (const endpointId of endpointsIn(workspaceId)) world.warmUp(endpointId, workspaceId)
  }
  /** All endpoints of a workspace have something to be sent. */
  const fill = (world: World, workspaceId: string) => {
    world.add(...endpointsIn(workspaceId).map((endpointId) => aJob(endpointId, {}, workspaceId)))
    return world.start().length
  }

  test('has nearly all of the slots when no other wants any', () => {
    const world = new World()
    warmUp(world, 'alone')
    expect(fill(world, 'alone')).toBe((SLOTS * 7) / 8)
  })

  test('leaves some to others that come later, and these to one more', () => {
    const world = new World()
    warmUp(world, 'first')
    warmUp(world, 'second')
    world.warmUp('another', 'another')
    expect(fill(world, 'first')).toBeGreaterThan(SLOTS / 2)
    expect(fill(world, 'second')).toBeGreaterThan(100)
    world.add(aJob('another', {}, 'another'))
    expect(endpointsOf(world.start())).toEqual(['another'])
  })
})

describe('large bodies', () => {
  const MIB = 1024 * 1024
  /** One event of 2 MiB to many endpoints of a workspace. */
  const toMany = (workspaceId: string) => {
    const body = Buffer.alloc(2 * MIB)
    return many(500, (index) => aJob(`${workspaceId} ${index}`, { body }, workspaceId))
  }
  const bytesOf = (jobs: readonly Job[]) => jobs.reduce((sum, { body }) => sum + body.length, 0)

  test('of one event to many endpoints go out a few at a time, and all of them in the end', () => {
    const world = new World()
    const jobs = toMany('large')
    world.add(...jobs)
    const started = world.start()
    while (world.flying.length > 0) {
      expect(bytesOf(world.flying)).toBeLessThanOrEqual(SENDING_BYTES)
      world.end(10)
      started.push(...world.start())
    }
    expect(started).toHaveLength(jobs.length)
    expect(world.queues.all).toMatchObject({ sending: 0, unprovenSending: 0 })
  })

  test('leave bytes to others: to another workspace, and to endpoints known to answer', () => {
    const world = new World()
    world.warmUp('quick')
    for (const workspaceId of many(50, String)) world.add(...toMany(workspaceId))
    world.start()
    expect(world.queues.all.unprovenSending).toBeLessThan(2 * UNPROVEN_SENDING_BYTES + 2 * MIB)
    world.add(aJob('quick'))
    expect(endpointsOf(world.start())).toEqual(['quick'])
    const alone = new World()
    alone.add(...toMany('large'))
    alone.start()
    alone.add(aJob('another', {}, 'another'))
    expect(endpointsOf(alone.start())).toEqual(['another'])
  })

  test.each([2, 8])('of %i MiB that hang in two workspaces hold up no other', (mib) => {
    const world = new World()
    world.warmUp('quick')
    for (const workspaceId of ['one', 'two'])
      world.add(
        ...many(100, (index) => aJob(`${workspaceId} ${index}`, { body: Buffer.alloc(mib * MIB) }, workspaceId)),
      )
    world.start()
    world.add(
      ...[aJob('quick', {}, 'small'), aJob('unknown', {}, 'small')],
      ...many(2, (index) => aJob(`large ${index}`, { body: Buffer.alloc(mib * MIB) }, `other ${index}`)),
    )
    expect(endpointsOf(world.start()).toSorted()).toEqual(['large 0', 'large 1', 'quick', 'unknown'])
    expect(world.queues.all.sending).toBeLessThan(2 * SENDING_BYTES)
  })

  test('however large one is, it goes out once nothing else does', () => {
    const world = new World()
    world.add(aJob('a', { body: Buffer.alloc(SENDING_BYTES + 1) }))
    expect(world.start()).toHaveLength(1)
  })
})

test('an endpoint whose rate allows the next request has its turn at once', () => {
  const world = new World()
  const [first, second] = many(2, () => {
    const job = aJob('limited')
    return { ...job, target: { ...job.target, requestsPerSecond: 1 } }
  })
  if (first === undefined || second === undefined) throw new Error('no jobs')
  world.add(first, second)
  expect(world.start()).toEqual([first])
  world.queues.noteSent(first, first.target, world.now)
  world.end(10)
  expect(world.start()).toEqual([])
  expect(world.queues.nextAt(world.now)).toBe(SECOND)
  world.now = SECOND
  expect(world.start()).toEqual([])
  expect(world.queues.nextAt(world.now)).toBe(SECOND)
  expect(world.start()).toEqual([second])
})

test('a pause that an endpoint asked for is kept, however many others are remembered', () => {
  const world = new World()
  world.second()
  const [first, second] = [aJob('paused'), aJob('paused')]
  world.add(first)
  world.start()
  world.queues.end(first, world.now, { durationMs: 10, isDelivered: false, retryAfterMs: 300 * SECOND })
  world.queues.forget(first)
  for (const index of many(30_000, (each) => each)) world.queues.assumeSlow(`other ${index}`)
  world.second()
  world.add(second)
  expect(world.start()).toEqual([])
})
