import type { Target } from '../endpoints/targets.ts'
import { endDeliveries, type Key } from '../queue/busy-deliveries.ts'
import { DueEndpoints } from '../queue/due-endpoints.ts'
import { DueReader, type ReadDeliveries } from '../queue/due-reader.ts'
import { jobsOf } from '../queue/jobs-of.ts'
import { type ReadyEndpoint, TableLook } from '../queue/table-look.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { isFirst, type Job } from '../scheduling/job.ts'
import { mayHold, roomForFresh, waitingAtMost } from '../scheduling/room.ts'
import type { Notification, Redaction } from '../shards/notify-due.ts'
import type { Ownership } from '../shards/ownership.ts'
import type { AttemptsElsewhere } from './attempts-elsewhere.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { isActive, PausedEndpoints } from './paused-endpoints.ts'
import { type BegunWriting, WrittenJobs } from './written-jobs.ts'

/** An endpoint counts as slow if a delivery was due for so many ms when its shard was taken, until it answers. */
const WAITED_MS = 10_000
/** After this time the deliveries of a deleted endpoint are read again that could not be ended, in milliseconds. */
const END_AGAIN_MS = 1000

export interface IntakeOptions extends Pick<DispatcherOptions, 'sql' | 'directory' | 'logger' | 'clock'> {
  readonly queues: EndpointQueues
  readonly ownership: Pick<Ownership, 'has' | 'owns' | 'own' | 'heard' | 'isSure'>
  readonly elsewhere: AttemptsElsewhere
  /** Whether this process makes the attempt already. */
  isFlying(job: Job): boolean
  /** Called when jobs have come into the queues. */
  onAdded(): void
}

/**
 * Brings what is due into the queues. A first attempt that this process has written comes from memory once its commit
 * is heard of. Everything else is read from the table, when a notification or a look says that it is due.
 */
export class Intake {
  readonly #options: IntakeOptions
  readonly #due = new DueEndpoints()
  readonly #written = new WrittenJobs()
  readonly #reader: DueReader
  readonly #look: TableLook
  readonly #paused = new PausedEndpoints()
  /** The deleted endpoints whose deliveries are being ended. Meanwhile they are not read. */
  readonly #ending = new Set<string>()
  #ended: Promise<void> = Promise.resolve()
  #isStopping = false
  /** The notifications that wait for an answer, or behind one that does. */
  #hearing: Promise<void> | undefined

  constructor(options: IntakeOptions) {
    this.#options = options
    const shared = { ...options, due: this.#due }
    this.#reader = new DueReader({
      ...shared,
      onRead: (read) => this.#takeIn(read),
      heard: () => this.#allHeard(),
    })
    this.#look = new TableLook({
      ...shared,
      keptUntil: (endpointId) => this.#keptUntil(endpointId),
      onLook: (ready) => this.#noteLooked(ready),
    })
  }

  async start(): Promise<void> {
    this.#reader.start()
    await this.#look.start()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all([this.#reader.stop(), this.#look.stop()])
  }

  /**
   * First attempts are about to be written: they are kept in memory until their commit is heard of. Undefined while
   * nothing is heard: they are read from the table.
   */
  beginWriting(): BegunWriting | undefined {
    return this.#options.ownership.isSure ? this.#written.begin() : undefined
  }

  /** Takes notifications in their order: one of this process waits for the answer of its statement, too. */
  hear(notification: Notification): void {
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

  /** Forgets what waits with the former bodies of events, and reads it again (OP-139). */
  readAgain(redaction: Redaction): void {
    const { queues } = this.#options
    this.#written.noteRedacted(redaction)
    this.#reader.noteRedacted(redaction)
    const endpointIds = queues.endpointsOf(redaction)
    for (const endpointId of endpointIds) queues.withdrawAllOf(endpointId)
    this.#onDue({ written: undefined, endpointIds: [...endpointIds] })
  }

  /** Notes that something is due for an endpoint; `firstId`: only first attempts from this id on. */
  noteDue(endpointId: string, dueAt: number, hasFirstAttempts: boolean, firstId?: string): void {
    if (!this.#options.ownership.has(endpointId) || this.#paused.has(endpointId) || this.#ending.has(endpointId)) return
    if (hasFirstAttempts) this.#reader.noteFirstAttempts(endpointId, firstId)
    this.#due.note(endpointId, dueAt, hasFirstAttempts)
  }

  /** Ends a job that is still to be made: its endpoint is read anew, so that nothing overtakes it (OP-74). */
  backToTable(job: Job, dueAt: number): void {
    this.#options.queues.withdrawAllOf(job.target.id)
    this.#options.queues.endUnmade(job, performance.now())
    this.noteDue(job.target.id, dueAt, true)
  }

  /** A job has ended: its endpoint has room for another, and its next attempt is due at `dueAt`, if there is one. */
  noteEnded({ deliveryId, target }: Job, dueAt: Date | null | undefined): void {
    this.#reader.noteRecorded(deliveryId)
    this.#due.unpark(target.id)
    if (dueAt) this.noteDue(target.id, dueAt.getTime(), false)
  }

  /** Reads as soon as an endpoint is due that has room. */
  wake(): void {
    this.#reader.wake()
  }

  /** Nothing is sent to an endpoint until it is looked at again. Its deliveries stay in the table. */
  pause(target: Target): void {
    this.#paused.add(target)
    this.#options.queues.withdrawAllOf(target.id)
    this.#due.forget(target.id)
  }

  /** What waits for endpoints that are not paused any more is due. */
  async resumePaused(): Promise<void> {
    const { sql, directory, queues, clock } = this.#options
    await this.#paused.look(sql, directory, (endpointId) => {
      queues.noteResumed(endpointId, performance.now())
      this.noteDue(endpointId, clock().getTime(), true)
    })
  }

  /** Leaves to the table what has no room in memory any more, and forgets what was never committed. */
  tidy(): void {
    const { queues, clock } = this.#options
    const now = performance.now()
    this.#written.expire()
    const excess = queues.withdraw((queue) => queue.trim(waitingAtMost(queue, now)))
    for (const job of excess) this.noteDue(job.target.id, clock().getTime(), isFirst(job))
  }

  /** Shards were taken: finds soon what is due in them. */
  takeOver(): void {
    this.#look.hurry()
  }

  /** Forgets what is due in shards that are another process's from now on. */
  drop(shards: ReadonlySet<number>): void {
    this.#due.drop(shards)
    this.#reader.discard()
    this.#paused.drop(shards)
  }

  /** As for `TableLook`. */
  #keptUntil(endpointId: string): number {
    const { ownership, queues, clock } = this.#options
    if (!ownership.owns(endpointId) || this.#paused.has(endpointId)) return Number.POSITIVE_INFINITY
    return clock().getTime() - queues.sinceKept(endpointId, performance.now())
  }

  /** Resolves when everything that is committed has been noted. */
  async #allHeard(): Promise<void> {
    await this.#options.ownership.heard()
    await this.#hearing
  }

  #onDue({ written, endpointIds }: Notification): void {
    const { ownership, clock, onAdded } = this.#options
    const now = clock().getTime()
    for (const endpointId of endpointIds) {
      const jobs = this.#written.take(written?.token, endpointId)
      if (!ownership.has(endpointId)) continue
      if (jobs === undefined) this.noteDue(endpointId, now, true, written?.firstId)
      else this.#takeFresh(endpointId, jobs, now)
    }
    this.wake()
    onAdded()
  }

  /** Adds first attempts that this process has written: they follow those in memory when nothing else is due. */
  #takeFresh(endpointId: string, jobs: readonly Job[], now: number): void {
    const { queues } = this.#options
    const mayFollow = !this.#isStopping && !this.#paused.has(endpointId) && this.#due.isComplete(endpointId)
    const isReadable = mayFollow && jobs.every(({ target }) => isActive(target))
    const fitting = isReadable ? roomForFresh(queues, jobs, performance.now()) : 0
    for (const job of jobs.slice(0, fitting)) queues.add(job, performance.now())
    if (fitting === jobs.length) return
    const queue = queues.get(endpointId)
    if (queue && fitting > 0) queue.readUpTo = jobs[fitting - 1]?.deliveryId
    this.noteDue(endpointId, now, true, jobs[fitting]?.deliveryId)
  }

  #noteLooked(ready: readonly ReadyEndpoint[]): void {
    const { queues, clock } = this.#options
    const waitedSince = clock().getTime() - WAITED_MS
    for (const { endpointId, isRepeat, dueAt } of ready) {
      if (!this.#due.isKnown(endpointId) && dueAt.getTime() < waitedSince) queues.assumeSlow(endpointId)
      // Times are cut to milliseconds, so the delivery may be due up to 1 ms later.
      this.noteDue(endpointId, dueAt.getTime() + 1, !isRepeat)
    }
    this.#due.unparkAll()
    this.wake()
  }

  /**
   * Adds what was read to the queues. Ends deliveries of deleted endpoints, and leaves those of paused ones, and those
   * whose bodies have no room.
   */
  #takeIn({ deliveries, workspaces, bodies }: ReadDeliveries): void {
    const { queues, ownership, elsewhere, clock, isFlying, onAdded } = this.#options
    const now = clock()
    for (const { id } of deliveries) this.#written.forget(id)
    const own = deliveries.filter(({ endpointId }) => ownership.has(endpointId))
    const { jobs, deleted } = jobsOf(own, workspaces, bodies)
    const left = new Map<string, Target>()
    for (const { job, busyUntil } of jobs) {
      const isBusy = isFlying(job) || (busyUntil !== null && busyUntil > now)
      if (!isActive(job.target)) this.pause(job.target)
      else if (isBusy) elsewhere.add(job)
      else if (left.has(job.target.id) || !mayHold(queues, job.target)) left.set(job.target.id, job.target)
      else queues.add(job, performance.now())
    }
    for (const target of left.values()) this.#leave(target, now.getTime())
    if (deleted.length > 0) this.#ended = this.#ended.then(() => this.#end(deleted))
    for (const { target } of deleted) {
      this.#ending.add(target.id)
      this.#due.forget(target.id)
    }
    onAdded()
  }

  /** Ends deliveries of deleted endpoints, and then reads what else is due for these. */
  async #end(deleted: readonly Key[]): Promise<void> {
    const { sql, clock, logger } = this.#options
    let again = 0
    try {
      await endDeliveries(sql, deleted)
    } catch (error) {
      logger.warn({ err: error }, 'could not end deliveries of deleted endpoints: they are read again')
      again = END_AGAIN_MS
    }
    for (const { target } of deleted) {
      this.#ending.delete(target.id)
      this.noteDue(target.id, clock().getTime() + again, true)
    }
    this.wake()
  }

  /** What was read of an endpoint stays in the table until a later look. */
  #leave(target: Target, now: number): void {
    this.#options.queues.noteWorkspace(target)
    this.noteDue(target.id, now, true)
    this.#due.park(target.id)
  }
}
