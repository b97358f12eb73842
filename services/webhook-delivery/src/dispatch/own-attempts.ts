import { post } from '@backoffice/outbound/post.ts'
import { type Instant, passedSince, present } from '@backoffice/runtime/passed-time.ts'
import { type CurrentTarget, currentTargets } from '../endpoints/endpoint-directory.ts'
import type { Target } from '../endpoints/targets.ts'
import { endDeliveries, markBusy } from '../queue/busy-deliveries.ts'
import { noteAttempt, noteFirstAttempt } from '../results/note-attempt.ts'
import { recordAttempts } from '../results/record-attempts.ts'
import { Recorder } from '../results/recorder.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { isFirst, type Job } from '../scheduling/job.ts'
import { type Attempt, outcomeOf, outgoingOf } from '../sending/attempt.ts'
import { inAttemptSpan } from '../sending/attempt-span.ts'
import { retryAfterMs } from '../sending/retry-after.ts'
import type { Redaction } from '../shards/notify-due.ts'
import type { Ownership } from '../shards/ownership.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import type { Intake } from './intake.ts'
import { isActive } from './paused-endpoints.ts'

/** After an attempt that could not be made, and after one whose result was not written, in milliseconds. */
const AGAIN_MS = 1000
const UNWRITTEN_MS = 60_000
/** Beside its time-out an attempt that is handed over has so long to be recorded, in milliseconds. */
const RECORDED_WITHIN_MS = 5000

export interface OwnAttemptsOptions extends Required<Omit<DispatcherOptions, 'server' | 'processNumber' | 'onDied'>> {
  readonly queues: EndpointQueues
  readonly intake: Pick<Intake, 'pause' | 'backToTable' | 'noteEnded' | 'wake'>
  readonly ownership: Pick<Ownership, 'isSure'>
  /** Called when attempts have ended, or are recorded: others may start. */
  onEnded(): void
}

/** The Unix time of a UUID v7, in milliseconds. */
const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

/** The attempts that this process makes, from their start until they are recorded. */
export class OwnAttempts {
  readonly #options: OwnAttemptsOptions
  readonly #currentTarget: CurrentTarget
  readonly #recorder: Recorder
  /** Jobs that were sent and are not yet recorded, by delivery. Shards may be another process's by now. */
  readonly #flying = new Map<string, Job>()
  /** Jobs that are started and not yet sent. One whose body is redacted is taken out: it is read again. */
  readonly #unsent = new Set<Job>()
  /** Those of them that have ended, and whose results were not written. */
  readonly #unwritten = new WeakSet<Job>()
  /** Jobs that were handed over, and when this process has marked them as busy. */
  readonly #marked = new WeakMap<Job, Instant>()
  #marking: Promise<void> = Promise.resolve()
  #inFlight = 0
  #onNoneInFlight: (() => void) | undefined
  #isAborted = false

  constructor(options: OwnAttemptsOptions) {
    this.#options = options
    const { sql, directory, logger } = options
    this.#currentTarget = currentTargets(sql, directory, logger)
    this.#recorder = new Recorder({
      write: (attempts, lockMs) => this.#write(attempts, lockMs),
      onSettled: (attempts, recorded) => this.#settle(attempts, recorded),
      logger,
    })
  }

  /**
   * Whether an attempt for a delivery was sent and is not yet recorded. One that has ended and whose number another
   * process has recorded does not keep back the next one.
   */
  has({ deliveryId, attemptsMade }: Pick<Job, 'deliveryId' | 'attemptsMade'>): boolean {
    const flying = this.#flying.get(deliveryId)
    return flying !== undefined && (flying.attemptsMade === attemptsMade || !this.#unwritten.has(flying))
  }

  [Symbol.iterator](): Iterator<Job> {
    return this.#flying.values()
  }

  /** Makes the attempt of a job that was started. */
  async make(job: Job): Promise<void> {
    this.#inFlight++
    this.#unsent.add(job)
    try {
      await this.#attempt(job)
    } finally {
      this.#unsent.delete(job)
      this.#inFlight--
      if (this.#inFlight === 0) this.#onNoneInFlight?.()
      this.#options.onEnded()
    }
  }

  /** Jobs that are not sent yet are read again, since the bodies of their events were redacted (OP-139). */
  noteRedacted({ workspaceId, eventIds }: Redaction): void {
    const events = new Set(eventIds)
    for (const job of this.#unsent) {
      if (events.has(job.eventId) && job.target.workspaceId === workspaceId) this.#unsent.delete(job)
    }
  }

  /**
   * Says that attempts go on here: the next owner sends nothing behind them before they have ended. What is not sent
   * yet is not sent here any more.
   */
  async handOver(jobs: readonly Job[]): Promise<void> {
    const { sql, timeoutMs, logger } = this.#options
    // By delivery: after a shard was lost and taken again, the queues hold another job of the same delivery.
    const busy = jobs.flatMap(({ deliveryId }) => this.#flying.get(deliveryId) ?? [])
    const markedAt = present()
    this.#marking = markBusy(sql, busy, (timeoutMs + RECORDED_WITHIN_MS) / 1000).then(
      () => {
        for (const job of busy) this.#marked.set(job, markedAt)
      },
      (error) => logger.warn({ err: error }, 'could not mark attempts in flight: the next owner may make them again'),
    )
    await this.#marking
  }

  /** Aborts the attempts in flight. They are made again, since nobody knows whether they arrived. */
  abort(): void {
    this.#isAborted = true
    void this.#options.agent.destroy(new Error('stopping'))
  }

  /** Resolves when none is in flight and all are recorded; nothing more is started by then. */
  async ended(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onNoneInFlight = resolve
      if (this.#inFlight === 0) resolve()
    })
    await this.#recorder.settled()
  }

  async #attempt(job: Job): Promise<void> {
    const { ownership, queues, agent, clock, timeoutMs, schedule, random, onEnded } = this.#options
    const target = await this.#currentTarget(job.target).catch(() => null)
    if (!target || !isActive(target)) return this.#withhold(job, target)
    const mayBeSent = queues.has(job) && this.#unsent.delete(job) && ownership.isSure
    if (!mayBeSent) return this.#withhold(job, null)
    this.#flying.set(job.deliveryId, job)
    queues.noteSent(job, target, performance.now())
    if (target.requestsPerSecond !== undefined) onEnded()
    const startedAt = clock()
    if (isFirst(job)) this.#noteDelay(job, target, startedAt)
    const sent = outgoingOf(job, target, startedAt)
    let isTooLate = false
    const mayBegin = () => {
      isTooLate = !this.#mayStillSend(job)
      return !isTooLate
    }
    const { exchange, trace } = await inAttemptSpan(job, () => post(agent, sent, { timeoutMs, mayBegin }))
    if (isTooLate) return this.#takeBack(job)
    const { durationMs, failure } = exchange
    const ended = { durationMs, isDelivered: failure === null, retryAfterMs: retryAfterMs(exchange, clock()) }
    queues.end(job, performance.now(), ended)
    if (this.#isAborted) return this.#giveUp(job)
    this.#recorder.add(outcomeOf({ job, trace, startedAt, sent, exchange }, schedule, random()))
  }

  /** Measures how late a first attempt begins, unless its endpoint has kept it waiting since the delivery was made. */
  #noteDelay({ deliveryId, occurredAt }: Job, { id, pausedUntil = 0 }: Target, startedAt: Date): void {
    const [madeAt, now] = [timeOf(deliveryId), startedAt.getTime()]
    const sinceKept = this.#options.queues.sinceKept(id, performance.now())
    if (pausedUntil <= madeAt && sinceKept >= now - madeAt) noteFirstAttempt(Math.max(0, now - occurredAt.getTime()))
  }

  /**
   * Makes no attempt, since the endpoint is deleted (OP-97) or paused, its secret does not open (OP-107), or else
   * (`target` is null) PostgreSQL is away, the shard is another process's, or the body was redacted.
   */
  async #withhold(job: Job, target: Target | null | undefined): Promise<void> {
    const { clock, sql, queues, intake, logger } = this.#options
    if (target === undefined) {
      await endDeliveries(sql, [job]).catch((error) => {
        logger.warn({ err: error }, 'could not give up an attempt: the next look, or the next owner, finds it')
      })
    }
    const isOwn = queues.has(job)
    if (target === null && isOwn) intake.backToTable(job, clock().getTime() + AGAIN_MS)
    else queues.endUnmade(job, performance.now())
    if (target && isOwn) intake.pause(target)
  }

  /**
   * The attempt was aborted: nobody knows whether it arrived. The next owner makes it again, and does not wait for the
   * end of a mark of this process.
   */
  async #giveUp(job: Job): Promise<void> {
    const { sql, logger } = this.#options
    this.#land(job)
    await this.#marking
    // Any other mark is of another process, which makes the attempt by now.
    if (!this.#isMarked(job)) return
    await markBusy(sql, [job], 0).catch((error) => {
      logger.warn({ err: error }, 'could not give up an attempt: the next owner waits for its end')
    })
  }

  /** A connection may take seconds. By then a shard that is not handed over may be another process's. */
  #mayStillSend(job: Job): boolean {
    const { queues, ownership } = this.#options
    return this.#isMarked(job) || (queues.has(job) && ownership.isSure)
  }

  /** Whether the next owner waits for it: a little longer, for the result. */
  #isMarked(job: Job): boolean {
    const markedAt = this.#marked.get(job)
    return markedAt !== undefined && passedSince(markedAt) < this.#options.timeoutMs
  }

  /** Nothing was sent: this process or the next owner makes the attempt again. */
  async #takeBack(job: Job): Promise<void> {
    await Promise.all([this.#giveUp(job), this.#withhold(job, null)])
  }

  async #write(attempts: readonly Attempt[], lockMs: number): Promise<ReadonlyMap<string, Date | null>> {
    const startedAt = performance.now()
    const recorded = await recordAttempts(this.#options.sql, attempts, lockMs)
    this.#options.queues.noteWrite(performance.now() - startedAt, attempts.length)
    return recorded
  }

  #land(job: Job): void {
    // The delivery's next attempt may be in flight.
    if (this.#flying.get(job.deliveryId) === job) this.#flying.delete(job.deliveryId)
  }

  #settle(attempts: readonly Attempt[], recorded: ReadonlyMap<string, Date | null>): void {
    const { queues, intake, logger, onEnded } = this.#options
    for (const attempt of attempts) {
      const dueAt = recorded.get(attempt.job.deliveryId)
      // If nobody else has recorded one with its number, the delivery is sent again, but not again and again.
      if (dueAt === undefined) {
        this.#unwritten.add(attempt.job)
        setTimeout(() => this.#land(attempt.job), UNWRITTEN_MS).unref()
      } else this.#land(attempt.job)
      queues.forget(attempt.job)
      intake.noteEnded(attempt.job, dueAt)
      noteAttempt(logger, attempt, dueAt !== undefined)
    }
    intake.wake()
    onEnded()
  }
}
