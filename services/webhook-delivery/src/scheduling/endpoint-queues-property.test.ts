import { randomFrom } from '@backoffice/testing/random.ts'
import { expect, test } from 'vitest'
import { heldAtMost, MAX_CONCURRENCY } from './concurrency.ts'
import type { EndpointQueue } from './endpoint-queue.ts'
import { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { SLOTS } from './limits.ts'
import { aJob } from './testing/a-job.ts'

const STEPS = 2000
const [WORKSPACES, ENDPOINTS, KEYS] = [4, 12, 4]

/**
 * Some seconds of random events, answers, time-outs and withdrawals. `check` is called whenever a job starts, which is
 * too often for an `expect` of what is right.
 */
function live(seed: number, check: (queues: EndpointQueues, job: Job, flying: ReadonlySet<Job>) => void) {
  const random = randomFrom(seed)
  const upTo = (count: number) => Math.floor(random() * count)
  const queues = new EndpointQueues()
  const flying = new Set<Job>()
  const added: Job[] = []
  const started: Job[] = []
  const withdrawn: Job[] = []
  let now = 0
  const addOne = () => {
    const endpoint = upTo(ENDPOINTS)
    const attemptsMade = random() < 0.3 ? 1 : 0
    const job = aJob(`endpoint ${endpoint}`, { key: `key ${upTo(KEYS)}`, attemptsMade }, `w ${endpoint % WORKSPACES}`)
    added.push(job)
    queues.add(job, now)
  }
  const endOne = (job: Job, durationMs: number) => {
    flying.delete(job)
    queues.end(job, now, { durationMs, isDelivered: durationMs < 20_000 })
    queues.forget(job)
  }
  const startSome = () => {
    for (let job = queues.start(now); job !== undefined; job = queues.start(now)) {
      flying.add(job)
      started.push(job)
      check(queues, job, flying)
    }
  }
  const take = (of: (queue: EndpointQueue) => Job[]) => withdrawn.push(...queues.withdraw(of))
  for (let step = 0; step < STEPS; step++) {
    now += upTo(100)
    const chance = random()
    for (let adding = upTo(4); adding > 0; adding--) addOne()
    for (const job of flying) if (random() < 0.1) endOne(job, random() < 0.1 ? 20_000 : upTo(2000))
    if (chance > 0.97) queues.noteStall(now)
    if (chance > 0.99) take((queue) => queue.trim(heldAtMost(queue.concurrency)))
    startSome()
  }
  while (flying.size > 0) {
    for (const job of flying) endOne(job, 10)
    startSome()
  }
  return { queues, added, started, withdrawn }
}

const seeds = Array.from({ length: 20 }, (_, index) => index + 1)

test.each(seeds)('all that is not withdrawn starts, once each, and nothing is left over (seed %i)', (seed) => {
  const { queues, added, started, withdrawn } = live(seed, () => undefined)
  expect(new Set(started).size).toBe(started.length)
  expect(new Set([...started, ...withdrawn])).toEqual(new Set(added))
  expect(started.length + withdrawn.length).toBe(added.length)
  expect(Object.values(queues.all).every((count) => count === 0)).toBe(true)
})

test.each(seeds)('first attempts about one thing start in their order, one at a time (OP-74; seed %i)', (seed) => {
  const latest = new Map<string, number>()
  live(seed, (_, job, flying) => {
    if (job.attemptsMade > 0) return
    const about = ({ target, key, attemptsMade }: Job) => (attemptsMade > 0 ? undefined : `${target.id} ${key}`)
    const thing = about(job) ?? ''
    const [before, id] = [latest.get(thing) ?? 0, Number(job.deliveryId)]
    if (id <= before) expect(id).toBeGreaterThan(before)
    latest.set(thing, id)
    const inFlight = [...flying].filter((other) => about(other) === thing)
    if (inFlight.length !== 1 || inFlight[0] !== job) expect(inFlight).toEqual([job])
  })
})

test.each(seeds)(
  'an endpoint never has more in flight than its limit, nor all of them than there are slots (seed %i)',
  (seed) => {
    live(seed, (queues, job, flying) => {
      const own = [...flying].filter(({ target }) => target.id === job.target.id)
      const limit = Math.min(queues.concurrencyOf(job.target.id).limit, MAX_CONCURRENCY)
      if (own.length > limit) expect(own.length).toBeLessThanOrEqual(limit)
      const { busy } = queues.all
      if (busy !== flying.size) expect(busy).toBe(flying.size)
      if (busy > SLOTS) expect(busy).toBeLessThanOrEqual(SLOTS)
    })
  },
)
