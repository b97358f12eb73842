import { randomFrom } from '@backoffice/testing/random.ts'
import { expect, test } from 'vitest'
import { DueEndpoints } from '../queue/due-endpoints.ts'
import { Reading, readOfEach } from '../queue/due-reader.ts'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { isFirst, type Job } from '../scheduling/job.ts'
import { roomForFresh, roomToRead, waitingAtMost } from '../scheduling/room.ts'
import { aJob } from '../scheduling/testing/a-job.ts'
import { shardOf } from '../shards/shard-of.ts'

/** In the world of 274, an endpoint waits for attempts of its former owner, and nothing happens after them. */
const SEEDS = [1, 2, 3, 274]
const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const DAYS = 2
const [ENDPOINTS, WORKSPACES, KEYS, BURSTS] = [12, 3, 3, 120]
const RETRY_AFTER = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR]
const [TIMEOUT, BUSY] = [20 * SECOND, 25 * SECOND]
/** The first endpoints have a limit of requests per second. */
const PER_SECOND = [1, 3, 20]

/** A delivery in the table. */
interface Row {
  readonly id: string
  readonly endpointId: string
  readonly key: string
  attemptsMade: number
  dueAt: number | null
  busyUntil: number
  /** Requests, and those whose end is not known or came too late, since their process had lost the shard. */
  sent: number
  inDoubt: number
}

interface Flight {
  readonly row: Row
  readonly job: Job
  readonly process: Process
  /** Whether the owner knows of it. Nobody does when the process died or its session broke. */
  isKnown: boolean
}

const endpointIds = Array.from({ length: ENDPOINTS }, (_, n) => `0198c1a2-0000-7000-8000-00000000000${n.toString(16)}`)
const JOBS = new Map(
  endpointIds.map((id, number) => {
    const { target, ...job } = aJob(id, {}, `workspace ${number % WORKSPACES}`)
    return [id, { ...job, target: { ...target, requestsPerSecond: PER_SECOND[number] } }] as const
  }),
)
const ALL_SHARDS = endpointIds.map(shardOf)
const thingOf = ({ endpointId, key }: Pick<Row, 'endpointId' | 'key'>) => `${endpointId} ${key}`
const nameOf = (number: number) => String(number).padStart(8, '0')

/**
 * Days of a table, receivers that answer, fail, hang and ask to wait, and processes that come and go. Time is
 * simulated.
 */
class World {
  now = 0
  readonly rows = new Map<string, Row>()
  /** By endpoint: what is not over. */
  readonly open = new Map(endpointIds.map((id) => [id, new Set<Row>()]))
  /** By endpoint and key: what was never sent, oldest first. */
  readonly unsent = new Map<string, string[]>()
  readonly flights = new Set<Flight>()
  readonly random: () => number
  readonly starts = new Map<string, number[]>()
  readonly #modes = new Map<string, number>()
  readonly #later: { readonly at: number; readonly what: () => void }[] = []
  processes: Process[] = []

  constructor(seed: number) {
    this.random = randomFrom(seed)
  }

  upTo(count: number): number {
    return Math.floor(this.random() * count)
  }

  one<Thing>(things: readonly Thing[]): Thing {
    return things[this.upTo(things.length)] as Thing
  }

  in(ms: number, what: () => void): void {
    const at = this.now + ms
    let index = this.#later.length
    while (index > 0 && (this.#later[index - 1]?.at ?? 0) <= at) index--
    this.#later.splice(index, 0, { at, what })
  }

  run(): void {
    for (let next = this.#later.pop(); next !== undefined; next = this.#later.pop()) {
      this.now = next.at
      next.what()
    }
  }

  publish(): void {
    const endpointId = this.one(endpointIds)
    const rows = Array.from({ length: 1 + this.upTo(60) }, () => {
      const row = {
        id: nameOf(this.rows.size),
        endpointId,
        key: `key ${this.upTo(KEYS)}`,
        attemptsMade: 0,
        dueAt: this.now,
      }
      const written: Row = { ...row, busyUntil: 0, sent: 0, inDoubt: 0 }
      this.rows.set(row.id, written)
      this.open.get(endpointId)?.add(written)
      this.unsent.set(thingOf(row), [...(this.unsent.get(thingOf(row)) ?? []), row.id])
      return written
    })
    const writer = this.one(this.processes)
    for (const each of this.processes) each.hear(endpointId, rows, each === writer)
  }

  /** How a receiver answers, which changes about every three hours. */
  answer(endpointId: string) {
    const mode = this.#modes.get(endpointId) ?? 0
    if (this.random() < 0.02) this.#modes.set(endpointId, this.upTo(6))
    if (mode === 1) return { durationMs: 1500 + this.upTo(3000), isDelivered: true }
    if (mode === 2) return { durationMs: 30, isDelivered: this.random() < 0.5 }
    if (mode === 3) return { durationMs: TIMEOUT, isDelivered: false }
    if (mode === 4) return { durationMs: 10, isDelivered: false, retryAfterMs: 1000 * (1 + this.upTo(100)) }
    return { durationMs: 5 + this.upTo(50), isDelivered: true }
  }

  openRows(): Row[] {
    return [...this.open.values()].flatMap((rows) => [...rows])
  }

  inFlightTo(endpointId: string): Flight[] {
    // Without those whose result came from a process that nobody knew of.
    return [...this.flights].filter(
      ({ row, job, isKnown }) => isKnown && row.endpointId === endpointId && row.attemptsMade === job.attemptsMade,
    )
  }
}

/** What a process of the service does, with its real queues and its real list of what is due. */
class Process {
  readonly queues = new EndpointQueues()
  readonly due = new DueEndpoints()
  readonly own = new Set<number>()
  /** Jobs that are started and not yet sent. */
  readonly starting = new Set<Job>()
  readonly flying = new Map<string, Job>()
  readonly elsewhere = new Map<string, Job>()
  readonly heldUntil = new Map<string, number>()
  isAlive = true
  readonly #doubted = new WeakSet<Job>()
  readonly #world: World
  #reading: Reading | undefined
  #isTidying = false
  #heardAt = 0
  #pumpAt = 0
  #readAt = 0

  constructor(world: World) {
    this.#world = world
  }

  owns(id: string): boolean {
    return this.own.has(shardOf(id))
  }

  take(shards: readonly number[]): void {
    const { now } = this.#world
    for (const shard of shards) {
      this.own.add(shard)
      this.queues.noteTaken(shard, now)
    }
    for (const row of this.#world.openRows()) {
      const isBusy = row.busyUntil > now || this.flying.has(row.id)
      if (isBusy && row.dueAt !== null && shards.includes(shardOf(row.endpointId)))
        this.#takeIn(this.#jobOf(row), row.busyUntil)
    }
    this.#in(this.#world.upTo(1500), () => this.#look())
  }

  /** Notes what is due in the table, as a reading of the whole of it does. */
  #look(): void {
    this.due.beginReading([...this.own])
    for (const row of this.#world.openRows()) {
      if (row.dueAt === null || row.dueAt > this.#world.now + 2 * SECOND) continue
      if (!this.due.isKnown(row.endpointId)) this.queues.assumeSlow(row.endpointId)
      this.#noteDue(row.endpointId, row.dueAt + 1, row.attemptsMade === 0)
    }
    this.due.endReading()
    this.due.unparkAll()
    this.#read()
  }

  leave(shards: readonly number[]): void {
    for (const { deliveryId } of this.#drop(shards)) {
      const row = this.#rowOf(deliveryId)
      if (row.dueAt !== null) row.busyUntil = this.#world.now + BUSY
    }
  }

  /** Its session broke: what it has in flight goes on, and nobody knows of it. */
  lose(shards: readonly number[]): void {
    this.#doubt(this.#drop(shards))
  }

  die(): void {
    this.isAlive = false
    this.own.clear()
    this.#doubt([...this.flying.values()])
  }

  /** Nobody knows of these attempts any more, each of which may be made once more. */
  #doubt(jobs: readonly Job[]): void {
    for (const flight of this.#world.flights) if (jobs.includes(flight.job)) flight.isKnown = false
    for (const job of jobs) {
      if (!this.#doubted.has(job)) this.#rowOf(job.deliveryId).inDoubt++
      this.#doubted.add(job)
    }
  }

  #drop(shards: readonly number[]): readonly Job[] {
    const dropped = new Set(shards)
    for (const shard of shards) this.own.delete(shard)
    const busy = this.queues.drop(dropped)
    this.due.drop(dropped)
    for (const [id, { target }] of this.elsewhere) if (dropped.has(shardOf(target.id))) this.elsewhere.delete(id)
    for (const id of this.heldUntil.keys()) if (dropped.has(shardOf(id))) this.heldUntil.delete(id)
    return busy.flatMap(({ deliveryId }) => this.flying.get(deliveryId) ?? [])
  }

  /** Hears of written first attempts soon, in the order of the commits. */
  hear(endpointId: string, rows: readonly Row[], hasWritten: boolean): void {
    this.#heardAt = Math.max(this.#heardAt, this.#world.now + this.#world.upTo(30))
    const jobs = rows.map((row) => this.#jobOf(row))
    this.#in(this.#heardAt - this.#world.now, () => {
      if (!this.owns(endpointId)) return
      const fitting =
        hasWritten && this.due.isComplete(endpointId) ? roomForFresh(this.queues, jobs, this.#world.now) : 0
      for (const job of jobs.slice(0, fitting)) this.queues.add(job, this.#world.now)
      if (fitting < jobs.length) {
        const queue = this.queues.get(endpointId)
        if (queue && fitting > 0) queue.readUpTo = jobs[fitting - 1]?.deliveryId
        this.#noteDue(endpointId, this.#world.now, true, jobs[fitting]?.deliveryId)
      }
      this.#read()
      this.#pump()
    })
  }

  #noteDue(endpointId: string, dueAt: number, hasFirstAttempts: boolean, firstId = ''): void {
    if (!this.owns(endpointId)) return
    const queue = this.queues.get(endpointId)
    const isBehind = queue?.readUpTo !== undefined && firstId > queue.readUpTo
    if (queue && hasFirstAttempts && !isBehind) queue.readUpTo = undefined
    if (hasFirstAttempts) this.#reading?.noteFirstAttempts(endpointId, firstId)
    this.due.note(endpointId, dueAt, hasFirstAttempts)
  }

  /** Reads what is due for endpoints that have room; the answer comes some milliseconds later. */
  #read(): void {
    if (this.#reading) return
    const { now, open } = this.#world
    const wanted = this.due.ready(now).flatMap((endpointId) => {
      const jobs = roomToRead(this.queues, endpointId, now)
      if (jobs <= 0) this.due.park(endpointId)
      else this.due.hadTurn(endpointId)
      return jobs > 0 ? [this.#wantedOf(endpointId, jobs)] : []
    })
    const { nextAt } = this.due
    if (wanted.length === 0) {
      if (nextAt < this.#readAt || this.#readAt <= now) {
        this.#readAt = nextAt
        if (nextAt < Number.POSITIVE_INFINITY) this.#in(Math.ceil(nextAt - now), () => this.#read())
      }
      return
    }
    const { notes } = this.due
    const isDue = ({ dueAt }: Row) => dueAt !== null && dueAt <= now
    const found = wanted.map(({ endpointId, after, firstAttempts, repeats }) => {
      const own = [...(open.get(endpointId) ?? [])].filter(isDue)
      const first = own.filter(({ attemptsMade, id }) => attemptsMade === 0 && id > after).slice(0, firstAttempts)
      const later = own.filter(({ attemptsMade }) => attemptsMade > 0).slice(0, repeats)
      const isAll = (firstAttempts === 0 || first.length < firstAttempts) && later.length < repeats
      return {
        endpointId,
        after,
        isAll,
        read: [...first, ...later].map((row) => ({ job: this.#jobOf(row), busyUntil: row.busyUntil })),
      }
    })
    const reading = new Reading()
    this.#reading = reading
    this.#in(1 + this.#world.upTo(20), () => {
      this.#reading = undefined
      for (const { endpointId, after, read, isAll } of found) {
        if (!this.owns(endpointId)) continue
        const isStale = reading.mayLack(endpointId, after)
        const taken = read.filter(({ job }) => !isStale || !isFirst(job))
        for (const { job, busyUntil } of taken) {
          if (!reading.recorded.has(job.deliveryId) && !this.queues.holds(job.deliveryId)) this.#takeIn(job, busyUntil)
        }
        const last = taken.findLast(({ job }) => isFirst(job))?.job.deliveryId
        const queue = this.queues.get(endpointId)
        if (last && queue) queue.readUpTo = reading.mayLack(endpointId, last) ? undefined : last
        if (isAll) this.due.noteRead(endpointId, now, notes)
      }
      this.#pump()
      this.#in(5, () => this.#read())
    })
  }

  #wantedOf(endpointId: string, jobs: number) {
    const queue = this.queues.get(endpointId)
    const { first, repeats } = readOfEach(jobs, this.due.hasFirstAttempts(endpointId))
    const held = queue?.readUpTo === undefined ? (queue?.firstAttempts ?? 0) : 0
    return {
      endpointId,
      after: queue?.readUpTo ?? '',
      firstAttempts: first === 0 ? 0 : first + held,
      repeats: repeats + (queue?.repeats ?? 0),
    }
  }

  #takeIn(job: Job, busyUntil: number): void {
    if (!this.flying.has(job.deliveryId) && busyUntil <= this.#world.now) {
      this.queues.add(job, this.#world.now)
      return
    }
    this.elsewhere.set(job.deliveryId, job)
    this.queues.addInFlight(job, this.#world.now)
    this.#tidyLater()
  }

  #pump(): void {
    const { now } = this.#world
    for (let job = this.queues.start(now); job !== undefined; job = this.queues.start(now)) this.#make(job)
    const nextAt = this.queues.nextAt(now)
    if (nextAt < this.#pumpAt || this.#pumpAt <= now) {
      this.#pumpAt = nextAt
      if (nextAt < Number.POSITIVE_INFINITY) this.#in(nextAt - now, () => this.#pump())
    }
    this.#tidyLater()
  }

  /** Reads the endpoint as it is now. Then the job is sent, unless its shard was dropped or PostgreSQL was away. */
  #make(job: Job): void {
    const world = this.#world
    checkStart(world, this, job)
    this.starting.add(job)
    this.#in(world.random() < 0.5 ? 0 : world.upTo(100), () => {
      this.starting.delete(job)
      if (this.queues.has(job) && world.random() > 0.01) this.#send(job)
      else this.#withhold(job)
    })
  }

  #withhold(job: Job): void {
    const { now } = this.#world
    if (this.queues.has(job)) {
      this.queues.withdrawAllOf(job.target.id)
      this.queues.endUnmade(job, now)
      this.#noteDue(job.target.id, now + SECOND, true)
      this.#readAfterLook(SECOND)
    }
    this.#pump()
  }

  #send(job: Job): void {
    const world = this.#world
    const row = this.#rowOf(job.deliveryId)
    const flight: Flight = { row, job, process: this, isKnown: true }
    checkSent(world, flight)
    this.flying.set(row.id, job)
    this.queues.noteSent(job, job.target, world.now)
    world.flights.add(flight)
    world.starts.set(row.endpointId, [...(world.starts.get(row.endpointId) ?? []).slice(-20), world.now])
    row.sent++
    const ended = world.answer(row.endpointId)
    world.in(ended.durationMs, () => {
      world.flights.delete(flight)
      if (!this.isAlive) return
      const isOwn = this.queues.holds(row.id) && this.owns(row.endpointId)
      this.queues.end(job, world.now, ended)
      if (isOwn && ended.retryAfterMs) this.#hold(row.endpointId, ended.retryAfterMs)
      this.#pump()
      this.#in(10 + world.upTo(20), () => this.#record(job, row, ended.isDelivered))
    })
  }

  /** What waits for the endpoint may go to the table, where the looks of every second find it when the time is over. */
  #hold(endpointId: string, ms: number): void {
    this.heldUntil.set(endpointId, this.#world.now + ms)
    this.#readAfterLook(ms - SECOND)
  }

  #readAfterLook(ms: number): void {
    this.#in(ms, () => {
      this.due.unparkAll()
      this.#read()
    })
  }

  #record(job: Job, row: Row, isDelivered: boolean): void {
    const isRecorded = row.attemptsMade === job.attemptsMade && row.dueAt !== null
    const delay = RETRY_AFTER[row.attemptsMade]
    if (isRecorded) {
      row.dueAt = isDelivered || delay === undefined ? null : this.#world.now + delay
      if (row.dueAt === null) this.#world.open.get(row.endpointId)?.delete(row)
      row.attemptsMade++
      row.busyUntil = 0
    }
    this.#reading?.recorded.add(row.id)
    this.queues.forget(job)
    this.due.unpark(row.endpointId)
    this.flying.delete(row.id)
    if (row.dueAt !== null && isRecorded) {
      const { dueAt } = row
      this.#noteDue(row.endpointId, dueAt + 1, false)
      // As looks note it ahead and while it is due, whoever owns it by then.
      for (const after of [-SECOND, SECOND, 2 * SECOND])
        this.#world.in(dueAt - this.#world.now + after, () => {
          if (row.dueAt !== dueAt) return
          for (const each of this.#world.processes) each.#noteDue(row.endpointId, dueAt + 1, false)
          for (const each of this.#world.processes) each.#read()
        })
    }
    this.#read()
    this.#pump()
  }

  #tidyLater(): void {
    if (this.#isTidying || (this.queues.all.held === 0 && this.elsewhere.size === 0)) return
    this.#isTidying = true
    this.#in(SECOND, () => {
      const { now } = this.#world
      this.#isTidying = false
      this.queues.noteStall(now)
      for (const job of this.queues.withdraw((queue) => queue.trim(waitingAtMost(queue, now))))
        this.#noteDue(job.target.id, now, isFirst(job))
      for (const [id, job] of this.elsewhere) {
        const row = this.#rowOf(id)
        const isToRecord = row.attemptsMade === job.attemptsMade && row.dueAt !== null
        if (isToRecord && (row.busyUntil > now || this.flying.has(id))) continue
        this.elsewhere.delete(id)
        this.queues.end(job, now)
        this.queues.forget(job)
        this.#noteDue(row.endpointId, now, true)
        this.due.unpark(row.endpointId)
      }
      this.#read()
      this.#pump()
    })
  }

  #rowOf(id: string): Row {
    return this.#world.rows.get(id) as Row
  }

  #jobOf({ id, endpointId, key, attemptsMade }: Row): Job {
    return { ...(JOBS.get(endpointId) as Job), deliveryId: id, key, attemptsMade }
  }

  #in(ms: number, what: () => void): void {
    this.#world.in(ms, () => this.isAlive && what())
  }
}

/** What holds whenever the turn of a job comes. It comes too often for an `expect` of what is right. */
function checkStart(world: World, { heldUntil, queues, starting }: Process, { target: { id } }: Job): void {
  const held = heldUntil.get(id) ?? 0
  if (held > world.now) expect(held, 'Retry-After').toBeLessThanOrEqual(world.now)
  const others = [...starting].filter(({ target }) => target.id === id).length + world.inFlightTo(id).length
  const { limit } = queues.concurrencyOf(id)
  if (others >= limit) expect(others, 'in flight').toBeLessThan(limit)
}

/** What holds whenever a request begins. */
function checkSent(world: World, { row, job, process }: Flight): void {
  const { now, starts } = world
  const { endpointId } = row
  if (!process.owns(endpointId)) expect.unreachable('only the owner sends')
  if (row.inDoubt === 0 && row.attemptsMade !== job.attemptsMade)
    expect(row.attemptsMade, 'each attempt once').toBe(job.attemptsMade)
  const limit = PER_SECOND[endpointIds.indexOf(endpointId)]
  const before = limit === undefined ? undefined : starts.get(endpointId)?.at(-limit)
  if (before !== undefined && now - before < SECOND - 0.001)
    expect(now - before, 'requests per second').toBeGreaterThanOrEqual(SECOND - 0.001)
  if (!isFirst(job)) return
  for (const other of world.inFlightTo(endpointId))
    if (isFirst(other.job) && other.row.key === row.key) expect(other.row.key, 'overlap').not.toBe(row.key)
  if (row.sent > 0) return
  const next = world.unsent.get(thingOf(row))?.shift()
  if (next !== row.id) expect(next, 'overtaken').toBe(row.id)
}

/** Two processes for days, of which one leaves, loses its session or dies now and then. */
function live(seed: number): World {
  const world = new World(seed)
  world.processes = [new Process(world), new Process(world)]
  world.processes[0]?.take(ALL_SHARDS)
  for (let burst = 0; burst < BURSTS; burst++) world.in(world.upTo(DAYS * 24 * HOUR), () => world.publish())
  // Some of them follow each other closely, so that there is something to hand over.
  for (let crowd = 0; crowd < 10; crowd++) {
    const at = world.upTo(DAYS * 24 * HOUR)
    for (let burst = 0; burst < 15; burst++) world.in(at + world.upTo(20 * SECOND), () => world.publish())
    for (let change = 0; change < 4; change++) world.in(at + world.upTo(25 * SECOND), () => changeOwners(world))
  }
  for (let change = 0; change < 30; change++) world.in(world.upTo(DAYS * 24 * HOUR), () => changeOwners(world))
  world.run()
  return world
}

function changeOwners(world: World): void {
  const from = world.one(world.processes)
  const to = world.processes.find((each) => each !== from) as Process
  const how = world.upTo(4)
  const shards = how === 0 ? [...from.own] : [...from.own].filter(() => world.random() < 0.5)
  if (how === 0) from.die()
  else if (how === 1) from.lose(shards)
  else from.leave(shards)
  if (how === 0) world.processes = [to, new Process(world)]
  world.in(world.upTo(2 * SECOND), () => (to.isAlive ? to : (world.processes[0] as Process)).take(shards))
}

test.each(SEEDS)(
  'days of deliveries through two processes: in order, within all limits, each once unless it was in flight at a crash (seed %i)',
  (seed) => {
    const { rows, flights } = live(seed)
    expect(rows.size).toBeGreaterThan(5000)
    expect(flights.size).toBe(0)
    const isWrong = ({ dueAt, sent, attemptsMade, inDoubt }: Row) =>
      dueAt !== null || sent < attemptsMade || sent > attemptsMade + inDoubt
    expect([...rows.values()].filter(isWrong)).toEqual([])
    const inDoubt = [...rows.values()].filter((row) => row.inDoubt > 0).length
    expect(inDoubt).toBeGreaterThan(0)
  },
)
