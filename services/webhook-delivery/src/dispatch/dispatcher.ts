import { randomInt } from 'node:crypto'
import type { Connections } from '@backoffice/outbound/connections.ts'
import { post } from '@backoffice/outbound/post.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type CurrentTarget, currentTargets, type EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import type { Target } from '../endpoints/targets.ts'
import { endDeliveries, markBusy, stillBusy } from '../queue/busy-deliveries.ts'
import { DueEndpoints } from '../queue/due-endpoints.ts'
import { DueReader, type ReadDeliveries } from '../queue/due-reader.ts'
import { jobsOf } from '../queue/jobs-of.ts'
import { TableLook } from '../queue/table-look.ts'
import { logAttempt } from '../results/attempt-log.ts'
import { measureAttempt } from '../results/delivery-metrics.ts'
import { recordAttempts } from '../results/record-attempts.ts'
import { Recorder } from '../results/recorder.ts'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { isFirst, type Job } from '../scheduling/job.ts'
import { roomForFresh, waitingAtMost } from '../scheduling/room.ts'
import { type Attempt, outcomeOf, outgoingOf } from '../sending/attempt.ts'
import { inAttemptSpan } from '../sending/attempt-span.ts'
import { retryAfterMs } from '../sending/retry-after.ts'
import type { Notification, Redaction } from '../shards/notify-due.ts'
import { Ownership } from '../shards/ownership.ts'
import { shardOf } from '../shards/shard-of.ts'
import { AttemptsElsewhere } from './attempts-elsewhere.ts'
import { mustWait, PausedEndpoints } from './paused-endpoints.ts'
import { type BegunWriting, WrittenJobs } from './written-jobs.ts'

/** Attempts started in one turn of the event loop, so that other work does not wait for more. */
const STARTS_PER_TURN = 32
/** Deliveries of a workspace that are sent in less than a second. */
const MANY = 2000
/** How often queues are checked for stalls and for what others have in flight, in milliseconds. */
const TIDY_EVERY_MS = 250
/** What has been due for so long when its shard is taken waits since the endpoint is slow, perhaps; milliseconds. */
const WAITED_MS = 10_000
/** After an attempt that could not be made, and after one whose result cannot be written, in milliseconds. */
const AGAIN_MS = 1000
const UNWRITABLE_MS = 60_000
/** The time for a stop unless `until` is given, and its last part for recording ended attempts, in milliseconds. */
const STOP_WITHIN_MS = 20_000
const RECORD_WITHIN_MS = 1000
/** Beside its time-out an attempt that is handed over has so long to be recorded, in milliseconds. */
const RECORDED_WITHIN_MS = 5000

export interface DispatcherOptions {
  /** Of the worker role. */
  readonly sql: Sql
  /** Connects as the worker role: for the session that owns shards. */
  readonly server: DatabaseServer
  readonly directory: EndpointDirectory
  readonly agent: Connections
  readonly logger: Logger
  /** Delay before each attempt in milliseconds (spec: Retries 2). */
  readonly schedule: readonly number[]
  /** A 2xx counts only within this many milliseconds (spec: Retries 1). */
  readonly timeoutMs?: number
  readonly clock?: () => Date
  /** Names this process among those that deliver, by 31 bits; random unless given. */
  readonly processNumber?: number
  /** Called with the numbers of those that have died. */
  readonly onDied?: (processNumbers: readonly number[]) => void
  /** From 0 to 1. */
  readonly random?: () => number
}

/**
 * Makes the attempts for the endpoints of its own shards. The table has every delivery before it is sent, so a process
 * that dies loses none. What is due comes into the queues by notifications, looks and readings, and leaves them when
 * its attempt is recorded.
 */
export class Dispatcher implements Component {
  readonly name = 'dispatcher'
  readonly #options: Required<DispatcherOptions>
  readonly #ownership: Ownership
  readonly #currentTarget: CurrentTarget
  readonly #queues = new EndpointQueues()
  readonly #due = new DueEndpoints()
  readonly #written = new WrittenJobs()
  readonly #reader: DueReader
  readonly #look: TableLook
  readonly #recorder: Recorder
  readonly #paused: PausedEndpoints
  /** Own attempts in flight or not yet recorded, also of shards that are another process's by now. */
  readonly #flying = new Map<string, Job>()
  readonly #elsewhere: AttemptsElsewhere
  /** Jobs that may not be sent any more, since their shard was lost before. */
  readonly #revoked = new WeakSet<Job>()
  /** Attempts that are being handed over are marked. */
  #marking: Promise<void> = Promise.resolve()
  #inFlight = 0
  #onNoneInFlight: (() => void) | undefined
  #isPumping = false
  #isStopping = false
  #isAborted = false
  #tidying: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #rateTimer: NodeJS.Timeout | undefined
  /** The notifications that wait for an answer, or behind one that does. */
  #hearing: Promise<void> | undefined

  constructor(options: DispatcherOptions) {
    const defaults = { timeoutMs: 20_000, clock: () => new Date(), random: Math.random }
    this.#options = { ...defaults, processNumber: randomInt(2 ** 31), onDied: () => undefined, ...options }
    const { sql, server, directory, logger, clock, processNumber, onDied } = this.#options
    this.#currentTarget = currentTargets(sql, directory, logger)
    this.#paused = new PausedEndpoints(sql, directory)
    const isFlying = ({ deliveryId }: Job) => this.#flying.has(deliveryId)
    this.#elsewhere = new AttemptsElsewhere({ sql, directory, isFlying })
    this.#ownership = new Ownership({
      server,
      logger,
      processNumber,
      onDied,
      onTaking: (shards) => this.#learnBusy(shards),
      onTaken: (shards) => this.#takeOver(shards),
      onLeaving: (shards) => this.#leave(shards),
      onLost: (shards) => void this.#drop(shards, 'lost'),
      onDue: (notification) => this.#hear(notification),
      onRedacted: (redaction) => void this.#readAgain(redaction),
    })
    this.#recorder = new Recorder({
      write: (attempts) => this.#write(attempts),
      findOpen: (attempts) => {
        const jobs = attempts.map(({ job }) => job)
        return stillBusy(sql, jobs)
      },
      onWritten: (attempts, recorded) => {
        for (const { job } of attempts) this.#land(job)
        this.#settle(attempts, recorded)
      },
      onUnwritable: (attempts) => {
        for (const { job } of attempts) setTimeout(() => this.#land(job), UNWRITABLE_MS).unref()
        this.#settle(attempts, new Map())
      },
      logger,
    })
    const shared = { sql, directory, queues: this.#queues, due: this.#due, logger, clock }
    this.#reader = new DueReader({
      ...shared,
      onRead: (read) => this.#takeIn(read),
      heard: () => this.#allHeard(),
    })
    this.#look = new TableLook({
      ...shared,
      isSendable: (endpointId) => this.#ownership.owns(endpointId) && !this.#paused.has(endpointId),
      onLook: (ready) => {
        const waitedSince = clock().getTime() - WAITED_MS
        for (const { endpointId, isRepeat, dueAt } of ready) {
          if (!this.#due.isKnown(endpointId) && dueAt.getTime() < waitedSince) this.#queues.assumeSlow(endpointId)
          // Times are cut to milliseconds, so the delivery may be due up to 1 ms later.
          this.#noteDue(endpointId, dueAt.getTime() + 1, !isRepeat)
        }
        this.#due.unparkAll()
        this.#reader.wake()
      },
      onReading: () => this.#due.beginReading(this.#ownership.own),
      onReadThrough: () => this.#due.endReading(),
    })
  }

  /** Whether this process works on the backlog of a workspace. */
  owns(workspaceId: string): boolean {
    return !this.#isStopping && this.#ownership.owns(workspaceId)
  }

  /** Whether so many of a workspace's deliveries wait in memory that more are better written later. */
  hasMany(workspaceId: string): boolean {
    return (this.#queues.loadOf(workspaceId)?.readyJobs ?? 0) > MANY
  }

  /** First attempts are about to be written: they are kept in memory until their commit is heard of. */
  beginWriting(): BegunWriting {
    return this.#written.begin()
  }

  async start(): Promise<void> {
    await this.#ownership.start()
    this.#reader.start()
    this.#look.start()
    this.#tidying = setInterval(() => this.#tidy(), TIDY_EVERY_MS)
  }

  async isReady(): Promise<boolean> {
    return !this.#isStopping && this.#ownership.isSure
  }

  /**
   * Starts nothing more, hands over its shards, waits for attempts in flight and records them. Aborts those that have
   * not ended shortly before `until` (`performance.now()`): the next owner makes them again.
   */
  async stop(until = performance.now() + STOP_WITHIN_MS): Promise<void> {
    this.#isStopping = true
    const patience = setTimeout(() => this.#abortInFlight(), Math.max(0, until - performance.now() - RECORD_WITHIN_MS))
    clearInterval(this.#tidying)
    clearTimeout(this.#rateTimer)
    await Promise.all([this.#reader.stop(), this.#look.stop()])
    await this.#ownership.stop()
    await this.#noneInFlight()
    clearTimeout(patience)
    await this.#recorder.settled()
    await this.#options.agent.destroy()
  }

  /** Adds what is in flight in some shards, from their former owners or from here: it counts towards the limits. */
  async #learnBusy(shards: readonly number[]): Promise<void> {
    const taken = new Set(shards)
    const there = await this.#elsewhere.read(taken)
    const here = [...this.#flying.values()].filter(({ target }) => taken.has(shardOf(target.id)))
    for (const job of [...there, ...here]) this.#addElsewhere({ ...job })
  }

  #addElsewhere(job: Job): void {
    if (this.#queues.holds(job.deliveryId)) return
    this.#elsewhere.add(job)
    this.#queues.addInFlight(job, performance.now())
  }

  #takeOver(shards: readonly number[]): void {
    for (const shard of shards) this.#queues.noteTaken(shard, performance.now())
    this.#look.hurry()
  }

  /** What is in flight goes on here; the next owner knows of it, and sends nothing behind it before it has ended. */
  async #leave(shards: readonly number[]): Promise<void> {
    const { sql, timeoutMs, logger } = this.#options
    const busy = this.#drop(shards, 'left')
    this.#marking = markBusy(sql, busy, (timeoutMs + RECORDED_WITHIN_MS) / 1000).catch((error) => {
      logger.warn({ err: error }, 'could not mark attempts in flight: the next owner may make them again')
    })
    await this.#marking
  }

  /** Says that an attempt is not in flight any more. A mark that is being made would hold it up for long. */
  async #unmark(job: Job): Promise<void> {
    this.#flying.delete(job.deliveryId)
    await this.#marking
    await markBusy(this.#options.sql, [job], 0)
  }

  /** Forgets all of some shards. Returns their jobs that are in flight or not yet recorded. */
  #drop(shards: readonly number[], why: 'lost' | 'left'): readonly Job[] {
    const dropped = new Set(shards)
    const busy = this.#queues.drop(dropped)
    if (why === 'lost') for (const job of busy) this.#revoked.add(job)
    this.#due.drop(dropped)
    this.#reader.discard()
    this.#paused.drop(dropped)
    this.#elsewhere.drop(dropped)
    return busy.filter((job) => this.#flying.get(job.deliveryId) === job)
  }

  /** Takes notifications in their order: one of this process waits for the answer of its statement, too. */
  #hear(notification: Notification): void {
    const answered = this.#written.untilAnswered(notification.written?.token)
    if (this.#hearing === undefined && answered === undefined) {
      this.#onDue(notification)
      return
    }
    const before = this.#hearing
    const hearing = Promise.all([before, answered]).then(() => {
      this.#onDue(notification)
      if (this.#hearing === hearing) this.#hearing = undefined
    })
    this.#hearing = hearing
  }

  /** Resolves when everything that is committed has been noted. */
  async #allHeard(): Promise<void> {
    await this.#ownership.heard()
    await this.#hearing
  }

  #onDue({ written, endpointIds }: Notification): void {
    const now = this.#options.clock().getTime()
    for (const endpointId of endpointIds) {
      const jobs = this.#written.take(written?.token, endpointId)
      if (!this.#ownership.has(endpointId)) continue
      if (jobs === undefined) this.#noteDue(endpointId, now, true, written?.firstId)
      else this.#takeFresh(endpointId, jobs, now)
    }
    this.#reader.wake()
    this.#pump()
  }

  /** Forgets what waits with the former bodies of events, and reads it again (OP-139). */
  async #readAgain(redaction: Redaction): Promise<void> {
    // What was committed before it is in the queues by then.
    await this.#hearing
    const { workspaceId, eventIds } = redaction
    this.#reader.noteRedacted(redaction)
    const endpointIds = this.#queues.endpointsOf(workspaceId, eventIds)
    for (const endpointId of endpointIds) this.#queues.withdrawAllOf(endpointId)
    this.#onDue({ written: undefined, endpointIds: [...endpointIds] })
  }

  /** Adds first attempts that this process has written: they follow those in memory when nothing else is due. */
  #takeFresh(endpointId: string, jobs: readonly Job[], now: number): void {
    const mayFollow = !this.#isStopping && !this.#paused.has(endpointId) && this.#due.isComplete(endpointId)
    const isReadable = mayFollow && !jobs.some(({ target }) => mustWait(target))
    const fitting = isReadable ? roomForFresh(this.#queues, jobs, performance.now()) : 0
    for (const job of jobs.slice(0, fitting)) this.#queues.add(job, performance.now())
    if (fitting === jobs.length) return
    const queue = this.#queues.get(endpointId)
    if (queue && fitting > 0) queue.readUpTo = jobs[fitting - 1]?.deliveryId
    this.#noteDue(endpointId, now, true, jobs[fitting]?.deliveryId)
  }

  /** Notes that something is due for an endpoint; `firstId`: only first attempts from this id on. */
  #noteDue(endpointId: string, dueAt: number, hasFirstAttempts: boolean, firstId?: string): void {
    if (!this.#ownership.has(endpointId) || this.#paused.has(endpointId)) return
    if (hasFirstAttempts) this.#reader.noteFirstAttempts(endpointId, firstId)
    this.#due.note(endpointId, dueAt, hasFirstAttempts)
  }

  /** Adds what was read to the queues. Ends deliveries of deleted endpoints, and leaves those of paused ones. */
  #takeIn({ deliveries, workspaces, bodies }: ReadDeliveries): void {
    const { sql, clock, logger } = this.#options
    const now = clock()
    for (const { id } of deliveries) this.#written.forget(id)
    const own = deliveries.filter(({ endpointId }) => this.#ownership.has(endpointId))
    const { jobs, deleted } = jobsOf(own, workspaces, bodies)
    for (const { job, busyUntil } of jobs) {
      const isBusy = this.#flying.has(job.deliveryId) || (busyUntil !== null && busyUntil > now)
      if (mustWait(job.target)) this.#pause(job.target)
      else if (isBusy) this.#addElsewhere(job)
      else this.#queues.add(job, performance.now())
    }
    endDeliveries(sql, deleted).catch((error) => {
      logger.warn({ err: error }, 'could not end deliveries of deleted endpoints: the next look does')
    })
    this.#pump()
  }

  /** Nothing is sent to an endpoint until it is looked at again. Its deliveries stay in the table. */
  #pause(target: Target): void {
    this.#paused.add(target)
    this.#queues.withdrawAllOf(target.id)
    this.#due.forget(target.id)
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    setImmediate(() => {
      this.#isPumping = false
      this.#startSome()
    })
  }

  #startSome(): void {
    if (this.#isStopping || !this.#ownership.isSure) return
    for (let started = 0; started < STARTS_PER_TURN; started++) {
      const job = this.#queues.start(performance.now())
      if (job === undefined) {
        this.#startLater()
        return
      }
      void this.#attempt(job)
    }
    this.#pump()
  }

  /** Starts more when an endpoint may get its next request by its rate. */
  #startLater(): void {
    const now = performance.now()
    const nextAt = this.#queues.nextAt(now)
    clearTimeout(this.#rateTimer)
    if (nextAt < Number.POSITIVE_INFINITY) this.#rateTimer = setTimeout(() => this.#pump(), Math.ceil(nextAt - now))
  }

  async #attempt(job: Job): Promise<void> {
    this.#inFlight++
    this.#flying.set(job.deliveryId, job)
    try {
      await this.#makeAttempt(job)
    } finally {
      this.#inFlight--
      if (this.#inFlight === 0) this.#onNoneInFlight?.()
      this.#pump()
    }
  }

  async #makeAttempt(job: Job): Promise<void> {
    const { agent, clock, timeoutMs, schedule, random } = this.#options
    const target = await this.#currentTarget(job.target).catch(() => null)
    if (!target?.signing || mustWait(target)) return this.#withhold(job, target)
    if (this.#revoked.has(job) || !this.#ownership.isSure) return this.#withhold(job, null)
    this.#queues.noteSent(job, target, performance.now())
    if (target.requestsPerSecond !== undefined) this.#pump()
    const startedAt = clock()
    const sent = outgoingOf(job, { url: target.url, signing: target.signing }, startedAt)
    const { exchange, trace } = await inAttemptSpan(job, () => post(agent, sent, { timeoutMs }))
    const { durationMs, failure } = exchange
    const ended = { durationMs, isDelivered: failure === null, retryAfterMs: retryAfterMs(exchange, clock()) }
    this.#queues.end(job, performance.now(), ended)
    if (this.#isAborted) return this.#giveUp(job)
    this.#recorder.add(outcomeOf({ job, trace, startedAt, sent, exchange }, { schedule, jitter: random() }))
  }

  /**
   * Makes no attempt, since the endpoint is deleted (OP-97) or paused, its secret does not open (OP-107), or else
   * (`target` is null) PostgreSQL is away or the shard is lost.
   */
  async #withhold(job: Job, target: Target | null | undefined): Promise<void> {
    const { clock, sql, logger } = this.#options
    const isOwn = this.#queues.holds(job.deliveryId)
    if (target === null && isOwn) this.#backToTable(job, clock().getTime() + AGAIN_MS)
    else this.#endUnmade(job)
    if (target && isOwn) this.#pause(target)
    try {
      if (target === undefined) await endDeliveries(sql, [job])
      // A job that was lost has no mark of this process; its next owner may have made one.
      else if (!isOwn && !this.#revoked.has(job)) await this.#unmark(job)
    } catch (error) {
      logger.warn({ err: error }, 'could not give up an attempt: the next look, or the next owner, finds it')
    }
    this.#flying.delete(job.deliveryId)
  }

  /** Ends a job without an attempt. What waits for it may start. */
  #endUnmade(job: Job): void {
    this.#queues.end(job, performance.now())
    this.#queues.forget(job)
  }

  /** Ends a job that is still to be made: its endpoint is read anew, so that nothing overtakes it (OP-74). */
  #backToTable(job: Job, dueAt: number): void {
    this.#queues.withdrawAllOf(job.target.id)
    this.#endUnmade(job)
    this.#noteDue(job.target.id, dueAt, true)
  }

  /** The attempt was aborted: nobody knows whether it arrived. The next owner makes it again. */
  async #giveUp(job: Job): Promise<void> {
    await this.#unmark(job).catch((error) => {
      this.#options.logger.warn({ err: error }, 'could not give up an attempt: the next owner waits for its end')
    })
  }

  async #write(attempts: readonly Attempt[]): Promise<ReadonlyMap<string, Date | null>> {
    const startedAt = performance.now()
    const recorded = await recordAttempts(this.#options.sql, attempts)
    this.#queues.noteWrite(performance.now() - startedAt, attempts.length)
    return recorded
  }

  #land(job: Job): void {
    // The delivery's next attempt may be in flight.
    if (this.#flying.get(job.deliveryId) === job) this.#flying.delete(job.deliveryId)
  }

  #settle(attempts: readonly Attempt[], recorded: ReadonlyMap<string, Date | null>): void {
    for (const attempt of attempts) {
      const { deliveryId, target } = attempt.job
      const dueAt = recorded.get(deliveryId)
      this.#reader.noteRecorded(deliveryId)
      this.#queues.forget(attempt.job)
      this.#due.unpark(target.id)
      if (dueAt) this.#noteDue(target.id, dueAt.getTime(), false)
      measureAttempt(attempt, dueAt !== undefined)
      logAttempt(this.#options.logger, attempt, dueAt !== undefined)
    }
    this.#reader.wake()
    this.#pump()
  }

  #tidy(): void {
    const { clock } = this.#options
    const now = performance.now()
    this.#queues.noteStall(now)
    this.#written.expire()
    const excess = this.#queues.withdraw((queue) => queue.trim(waitingAtMost(queue, now)))
    for (const job of excess) this.#noteDue(job.target.id, clock().getTime(), isFirst(job))
    // One look at a time, however long PostgreSQL takes.
    this.#looking ??= this.#lookAround().finally(() => {
      this.#looking = undefined
    })
    this.#pump()
  }

  async #lookAround(): Promise<void> {
    const { logger, clock } = this.#options
    try {
      for (const { job, isRecorded } of await this.#elsewhere.ended()) {
        if (isRecorded) this.#endUnmade(job)
        else this.#backToTable(job, clock().getTime())
      }
      for (const id of await this.#paused.resumed()) this.#noteDue(id, clock().getTime(), true)
      this.#reader.wake()
    } catch (error) {
      logger.warn({ err: error }, 'could not look at what is in flight elsewhere, or at paused endpoints')
    }
    this.#pump()
  }

  /** Aborts the attempts in flight. They are made again, since nobody knows whether they arrived. */
  #abortInFlight(): void {
    this.#isAborted = true
    void this.#options.agent.destroy(new Error('stopping'))
  }

  #noneInFlight(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNoneInFlight = resolve
      if (this.#inFlight === 0) resolve()
    })
  }
}
