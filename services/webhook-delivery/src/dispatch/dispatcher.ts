import type { Component } from '@backoffice/runtime/component.ts'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import type { Job } from '../scheduling/job.ts'
import type { Redaction } from '../shards/notify-due.ts'
import { Ownership } from '../shards/ownership.ts'
import { shardOf } from '../shards/shard-of.ts'
import { AttemptsElsewhere } from './attempts-elsewhere.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { Intake } from './intake.ts'
import { OwnAttempts } from './own-attempts.ts'
import type { BegunWriting } from './written-jobs.ts'

/** Attempts started in one turn of the event loop, so that other work does not wait for more. */
const STARTS_PER_TURN = 32
/** Deliveries of a workspace that are sent in less than a second. */
const MANY = 2000
/** How often queues are checked for stalls and for what others have in flight, in milliseconds. */
const TIDY_EVERY_MS = 250
/** The time for a stop unless `until` is given, and its last part for recording ended attempts, in milliseconds. */
const STOP_WITHIN_MS = 20_000
const RECORD_WITHIN_MS = 1000

/**
 * Makes the attempts for the endpoints of its own shards. The table has every delivery before it is sent, so a process
 * that dies loses none. `Intake` brings what is due into the queues, and `OwnAttempts` takes out what it has recorded.
 */
export class Dispatcher implements Component {
  readonly name = 'dispatcher'
  readonly #options: DispatcherOptions
  readonly #queues = new EndpointQueues()
  readonly #ownership: Ownership
  readonly #elsewhere: AttemptsElsewhere
  readonly #intake: Intake
  readonly #attempts: OwnAttempts
  #isPumping = false
  #isStopping = false
  #tidying: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #rateTimer: NodeJS.Timeout | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    const isFlying = (job: Job) => this.#attempts.has(job)
    const pump = () => this.#pump()
    this.#ownership = new Ownership({
      ...options,
      onTaking: (shards) => this.#learnBusy(shards),
      onTaken: () => this.#intake.takeOver(),
      onLeaving: (shards) => this.#attempts.handOver(this.#drop(shards)),
      onLost: (shards) => void this.#drop(shards),
      onDue: (notification) => this.#intake.hear(notification),
      onRedacted: (redaction) => this.#redact(redaction),
    })
    const defaults = { timeoutMs: 20_000, random: Math.random }
    const shared = { ...defaults, ...options, queues: this.#queues, ownership: this.#ownership, isFlying }
    this.#elsewhere = new AttemptsElsewhere(shared)
    this.#intake = new Intake({ ...shared, elsewhere: this.#elsewhere, onAdded: pump })
    this.#attempts = new OwnAttempts({ ...shared, intake: this.#intake, onEnded: pump })
  }

  /** Whether this process works on the backlog of a workspace. */
  owns(workspaceId: string): boolean {
    return !this.#isStopping && this.#ownership.owns(workspaceId)
  }

  /** Whether so many of a workspace's deliveries wait in memory that more are better written later. */
  hasMany(workspaceId: string): boolean {
    return (this.#queues.loadOf(workspaceId)?.readyJobs ?? 0) > MANY
  }

  /** As `Intake.beginWriting`. */
  beginWriting(): BegunWriting | undefined {
    return this.#intake.beginWriting()
  }

  async start(): Promise<void> {
    await this.#ownership.start()
    await this.#intake.start()
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
    const patience = setTimeout(() => this.#attempts.abort(), Math.max(0, until - performance.now() - RECORD_WITHIN_MS))
    clearInterval(this.#tidying)
    clearTimeout(this.#rateTimer)
    await this.#intake.stop()
    await this.#ownership.stop()
    await this.#attempts.ended()
    clearTimeout(patience)
    await this.#options.agent.destroy()
  }

  /** Adds what is in flight in some shards, from their former owners or from here: it counts towards the limits. */
  async #learnBusy(shards: readonly number[]): Promise<void> {
    // Before any of their queues opens: what the former owner has sent counts (OP-257).
    for (const shard of shards) this.#queues.noteTaken(shard, performance.now())
    const taken = new Set(shards)
    const there = await this.#elsewhere.read(taken)
    const here = [...this.#attempts].filter(({ target }) => taken.has(shardOf(target.id)))
    for (const job of [...there, ...here]) this.#elsewhere.add({ ...job })
  }

  /** Forgets all of some shards. Returns their jobs that are in flight or not yet recorded. */
  #drop(shards: readonly number[]): readonly Job[] {
    const dropped = new Set(shards)
    this.#intake.drop(dropped)
    this.#elsewhere.drop(dropped)
    return this.#queues.drop(dropped)
  }

  /** What is not sent yet is sent with the bodies as they are now (OP-139). */
  #redact(redaction: Redaction): void {
    this.#attempts.noteRedacted(redaction)
    this.#intake.readAgain(redaction)
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
      void this.#attempts.make(job)
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

  #tidy(): void {
    this.#queues.noteStall(performance.now())
    this.#intake.tidy()
    // One look at a time, however long PostgreSQL takes.
    this.#looking ??= this.#lookAround().finally(() => {
      this.#looking = undefined
    })
    this.#pump()
  }

  async #lookAround(): Promise<void> {
    try {
      for (const { job, isRecorded } of await this.#elsewhere.ended()) {
        if (isRecorded) this.#queues.endUnmade(job, performance.now())
        else this.#intake.backToTable(job, this.#options.clock().getTime())
        this.#intake.noteEnded(job, undefined)
      }
      await this.#intake.resumePaused()
      this.#intake.wake()
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'could not look at what is in flight elsewhere, or at paused endpoints')
    }
    this.#pump()
  }
}
