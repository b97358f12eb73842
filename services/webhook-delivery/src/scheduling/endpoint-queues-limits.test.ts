import { describe, expect, test } from 'vitest'
import { admissionOf, backpressureOf, isOverloaded } from '../deliveries/admission.ts'
import { MemoryBudget } from '../deliveries/memory-budget.ts'
import { readWaitingDeliveries } from '../deliveries/testing/read-waiting-deliveries.ts'
import { BASE_CONCURRENCY, MAX_CONCURRENCY } from './concurrency.ts'
import { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { BURST_SLOTS, CAPACITY, CAPACITY_BYTES, READY_TARGET_PER_ENDPOINT, SLOTS } from './limits.ts'
import { aJob, many } from './testing/a-job.ts'

const SECOND = 1000
const MIB = 1024 * 1024

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
  raiseLimits(...endpointIds: string[]): void {
    for (let round = 0; round < 8; round++) {
      for (const endpointId of endpointIds) this.add(...many(MAX_CONCURRENCY, () => aJob(endpointId, {}, endpointId)))
      while (this.start().length > 0) this.end(10)
    }
    for (const endpointId of endpointIds) this.add(...many(MAX_CONCURRENCY, () => aJob(endpointId, {}, endpointId)))
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

  test('are 128 for one alone, and as many for each when several share them', () => {
    for (const [count, each] of [
      [1, MAX_CONCURRENCY],
      [4, BASE_CONCURRENCY + 51],
    ] as const) {
      const world = new World()
      const endpointIds = many(count, (index) => `quick ${index}`)
      world.raiseLimits(...endpointIds)
      world.start()
      for (const endpointId of endpointIds) {
        expect(Math.abs(flyingTo(world, endpointId) - each), `${count} endpoints`).toBeLessThanOrEqual(1)
      }
      expect(world.queues.all.burst).toBeLessThanOrEqual(BURST_SLOTS)
    }
  })

  test('take no slot from others when they begin to hang, and these endpoints have few from then on', () => {
    const world = new World()
    const endpointIds = many(20, (index) => `quick ${index}`)
    world.raiseLimits(...endpointIds)
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
    while (world.queues.all.unknown > 0 || world.queues.all.busy > SLOTS / 2) {
      world.now += 20 * SECOND
      world.end(20_000)
      world.start()
      world.second()
    }
    expect(world.queues.all.slow).toBe(SLOTS / 2)
    world.add(...many(100, (index) => aJob(`new ${index}`)))
    expect(world.start()).toHaveLength(100)
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

describe('room in memory', () => {
  const fill = (queues: EndpointQueues, endpointId: string, workspaceId?: string, bytes = 100) => {
    while (new MemoryBudget(queues).leftFor(endpointId, workspaceId ?? 'workspace') > 0) {
      queues.add(aJob(endpointId, { body: Buffer.alloc(bytes) }, workspaceId), 0)
    }
  }

  test('is left for another endpoint however many fill their share', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 50; endpoint++) fill(queues, `endpoint ${endpoint}`, `workspace ${endpoint}`)
    expect(new MemoryBudget(queues).leftFor('another', 'another')).toBeGreaterThan(0)
    expect(new MemoryBudget(queues).leftFor('another', 'another')).toBeLessThan(CAPACITY / 8)
  })

  test('is left for another workspace, a quarter of all beside one with a thousand endpoints', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 1000; endpoint++) fill(queues, `endpoint ${endpoint}`)
    expect(queues.all.held).toBeGreaterThan(CAPACITY / 2)
    expect(CAPACITY - queues.all.held).toBeGreaterThanOrEqual(CAPACITY / 4)
    expect(new MemoryBudget(queues).leftFor('another', 'another')).toBeGreaterThan(100)
  })

  test('is left in bytes as well', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 1000; endpoint++) fill(queues, `endpoint ${endpoint}`, undefined, MIB)
    expect(queues.all.bytes).toBeLessThanOrEqual(CAPACITY_BYTES)
    expect(new MemoryBudget(queues).leftFor('another', 'another')).toBeGreaterThan(0)
  })

  test('is for a few jobs of an endpoint that is slow, and of all of them for a quarter', () => {
    const queues = new EndpointQueues()
    for (let endpoint = 0; endpoint < 2000; endpoint++) {
      queues.assumeSlow(`slow ${endpoint}`)
      const admits = admissionOf(queues, readWaitingDeliveries())
      const jobs = many(10, () => aJob(`slow ${endpoint}`, {}, `workspace ${endpoint}`))
      for (const job of jobs.filter(({ target }) => admits(target, 100))) queues.add(job, 0)
    }
    expect(queues.get('slow 0')?.held).toBe(4)
    expect(queues.all.held).toBe(CAPACITY / 4)
  })

  test('comes back with what is forgotten', () => {
    const queues = new EndpointQueues()
    const room = () => [new MemoryBudget(queues).leftFor('a', 'workspace'), new MemoryBudget(queues).bytes]
    const before = room()
    queues.add(aJob('a'), 0)
    expect(room()).not.toEqual(before)
    const job = queues.start(0)
    if (job) queues.end(job, 0, { durationMs: 1, isDelivered: true })
    if (job) queues.forget(job)
    expect(room()).toEqual(before)
  })
})

describe('admissions', () => {
  const [a, b] = [aJob('a').target, aJob('b').target]

  test('are as many as there is room for', () => {
    const admits = admissionOf(new EndpointQueues(), readWaitingDeliveries())
    const admitted = many(CAPACITY, () => admits(a, 100)).filter(Boolean).length
    expect(admitted).toBeGreaterThan(100)
    expect(admitted).toBeLessThan(CAPACITY / 8)
  })

  test('are bounded in bytes, and none comes after a refusal: later events do not overtake (OP-74)', () => {
    const admits = admissionOf(new EndpointQueues(), readWaitingDeliveries())
    expect([3, 30, 1].map((size) => admits(a, size * MIB))).toEqual([true, false, false])
    expect(admits(b, MIB)).toBe(true)
  })

  test('are refused to an endpoint whose first attempts wait in the table (OP-74)', () => {
    const waitingDeliveries = readWaitingDeliveries()
    waitingDeliveries.note('a', new Date(), true)
    waitingDeliveries.note('b', new Date())
    const admits = admissionOf(new EndpointQueues(), waitingDeliveries)
    expect([a, b].map((target) => admits(target, 100))).toEqual([false, true])
  })
})

describe('the fresh events of a workspace had better wait', () => {
  const mustWait = (queues: EndpointQueues, waitingDeliveries = readWaitingDeliveries(), workspace = 'workspace') =>
    backpressureOf(queues, waitingDeliveries)(workspace)

  test('while an eighth of the memory waits to be sent for it, but for what waits for endpoints that are slow', () => {
    const queues = new EndpointQueues()
    queues.assumeSlow('slow')
    queues.add(aJob('quick 0'), 0)
    for (const job of many(CAPACITY / 4, () => aJob('slow'))) queues.add(job, 0)
    expect(mustWait(queues)).toBe(false)
    for (const job of many(CAPACITY / 8, (index) => aJob(`quick ${index % 5}`))) queues.add(job, 0)
    expect(mustWait(queues)).toBe(true)
    queues.start(0)
    expect(mustWait(queues), 'one of them is in flight').toBe(false)
  })

  test('while 256 wait for each of its endpoints: what comes then finds room in memory', () => {
    const queues = new EndpointQueues()
    for (const job of many(READY_TARGET_PER_ENDPOINT, () => aJob('only'))) queues.add(job, 0)
    expect(mustWait(queues)).toBe(false)
    queues.add(aJob('only'), 0)
    expect(mustWait(queues)).toBe(true)
    queues.add(aJob('another'), 0)
    expect(mustWait(queues)).toBe(false)
  })

  test('while more waits for it than others leave; one for which little waits never does', () => {
    const queues = new EndpointQueues()
    const workspaces = many(10, (index) => `workspace ${index}`)
    for (const workspace of workspaces) {
      for (const job of many(CAPACITY / 4, (index) => aJob(`${workspace} ${index % 5}`, {}, workspace)))
        queues.add(job, 0)
    }
    expect(workspaces.map((workspace) => mustWait(queues, readWaitingDeliveries(), workspace))).toEqual(
      workspaces.map(() => true),
    )
    expect(mustWait(queues, readWaitingDeliveries(), 'another')).toBe(false)
  })

  test('with those of all others while what waits is of many workspaces, and not while one has a large part of it', () => {
    const [queues, large] = [new EndpointQueues(), new EndpointQueues()]
    for (const job of many(CAPACITY / 4, (index) => aJob(`endpoint ${index % 50}`, {}, `workspace ${index % 50}`))) {
      queues.add(job, 0)
      large.add(job, 0)
    }
    expect(isOverloaded(queues)).toBe(false)
    queues.add(aJob('endpoint 1', {}, 'workspace 1'), 0)
    expect(isOverloaded(queues)).toBe(true)
    for (const job of many(CAPACITY / 8, () => aJob('large', {}, 'large'))) large.add(job, 0)
    expect(isOverloaded(large)).toBe(false)
  })

  test('while most of its endpoints have first attempts in the table, for those after them have to follow', () => {
    const [queues, waitingDeliveries] = [new EndpointQueues(), readWaitingDeliveries()]
    for (const endpoint of ['a', 'b', 'c']) queues.add(aJob(endpoint), 0)
    queues.add(aJob('d', {}, 'another'), 0)
    waitingDeliveries.note('a', new Date(), true)
    expect(mustWait(queues, waitingDeliveries)).toBe(false)
    waitingDeliveries.note('b', new Date(), true)
    expect(mustWait(queues, waitingDeliveries)).toBe(true)
    expect(mustWait(queues, waitingDeliveries, 'another')).toBe(false)
    queues.assumeSlow('slow')
    queues.add(aJob('slow'), 0)
    waitingDeliveries.noteFirstAttemptsClaimed('b', waitingDeliveries.notes)
    waitingDeliveries.note('slow', new Date(), true)
    expect(mustWait(queues, waitingDeliveries)).toBe(false)
  })
})
