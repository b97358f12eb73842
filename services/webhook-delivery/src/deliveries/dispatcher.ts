import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Part } from '@backoffice/runtime/process.ts'
import type { Agent } from 'undici'
import { type CurrentTarget, currentTargets } from '../endpoints/current-targets.ts'
import { type EndpointDirectory, refuseUnknownKeys } from '../endpoints/endpoint-directory.ts'
import type { Target } from '../endpoints/targets.ts'
import type { SecretKeys } from '../secrets/secret-box.ts'
import { post } from '../sending/post.ts'
import { type Attempt, outcomeOf, outgoingOf } from './attempt.ts'
import { logAttempt } from './attempt-log.ts'
import { Backlog } from './backlog.ts'
import { ClaimLoop } from './claim-loop.ts'
import { type Claimer, claimer } from './claimer.ts'
import { claimsOf, endClaims, releaseClaims } from './claims.ts'
import { measureAttempt } from './delivery-metrics.ts'
import type { Job } from './job.ts'
import { Lanes } from './lanes.ts'
import { type Places, placesIn } from './places.ts'
import { recordAttempts } from './record-attempts.ts'
import { Recorder } from './recorder.ts'

/** Attempts in flight or not yet recorded, all endpoints together. */
const BUSY = 1024
/** For how long an endpoint whose deliveries cannot be signed is let alone. */
const REST_MS = 10_000

export interface DispatcherOptions {
  /** Of the worker role. */
  readonly sql: Sql
  /** Connects as the worker role: for the claimer's own connection. */
  readonly url: string
  readonly directory: EndpointDirectory
  readonly keys: SecretKeys
  readonly agent: Agent
  readonly logger: Logger
  /** Delay before each attempt in milliseconds (spec: Retries 2). */
  readonly schedule: readonly number[]
  /** A 2xx counts only within this many milliseconds (spec: Retries 1). */
  readonly timeoutMs?: number
  /** How long a job may wait in memory; the lease covers this and an attempt. */
  readonly maxWaitMs?: number
  /** How long stopping waits for attempts in flight; what has not ended by then is made again by whoever claims it. */
  readonly stopWithinMs?: number
  readonly clock?: () => Date
  /** From 0 to 1. */
  readonly random?: () => number
}

/**
 * Makes the attempts: first ones of fresh events straight from memory, all others as the claim loop brings them. The
 * table knows of every job before it is sent, so a process that dies loses none.
 */
export class Dispatcher implements Part {
  readonly name = 'dispatcher'
  readonly #options: Required<DispatcherOptions>
  readonly #claimer: Claimer
  readonly #currentTarget: CurrentTarget
  readonly #lanes = new Lanes()
  readonly #backlog = new Backlog()
  readonly #claimLoop: ClaimLoop
  readonly #recorder: Recorder
  readonly #inFlight = new Set<Promise<void>>()
  #busy = 0
  #isStopping = false
  #isCutOff = false

  constructor(options: DispatcherOptions) {
    this.#options = {
      timeoutMs: 20_000,
      maxWaitMs: 30_000,
      stopWithinMs: 15_000,
      clock: () => new Date(),
      random: Math.random,
      ...options,
    }
    const { sql, url, directory, logger, clock, maxWaitMs } = this.#options
    this.#currentTarget = currentTargets(sql, directory)
    this.#claimer = claimer({ url, onRegained: (id) => this.#dropForeign(id) })
    this.#recorder = new Recorder(
      (attempts) => recordAttempts(sql, attempts),
      (attempts, recorded) => this.#settle(attempts, recorded),
    )
    this.#claimLoop = new ClaimLoop({
      sql,
      claimer: this.#claimer,
      directory,
      lanes: this.#lanes,
      backlog: this.#backlog,
      logger,
      clock,
      maxWaitMs,
      onRound: () => this.#pump(),
    })
  }

  /** Under which number deliveries are claimed; undefined while none may be. */
  get claimerId(): number | undefined {
    return this.#isStopping ? undefined : this.#claimer.id
  }

  /** Says of one first attempt after the other whether there is room to make it from memory. */
  places(): Places {
    return placesIn(this.#lanes, this.#backlog)
  }

  /** Takes in claimed first attempts once they are committed. */
  accept(jobs: readonly Job[]): void {
    for (const job of jobs) this.#lanes.add(job)
    this.#pump()
  }

  /** First attempts were left to the table, due at a certain time. */
  noteWaiting(endpointIds: Iterable<string>, dueAt: Date): void {
    for (const endpointId of endpointIds) this.#backlog.note(endpointId, dueAt, true)
    this.#claimLoop.wake()
  }

  /** An attempt of an endpoint's became due that nobody waits for by now. */
  noteDue(endpointId: string, dueAt: Date): void {
    this.#backlog.note(endpointId, dueAt)
    this.#claimLoop.wake()
  }

  async start(): Promise<void> {
    await refuseUnknownKeys(this.#options.sql, this.#options.keys)
    await this.#claimer.start()
    this.#claimLoop.start()
  }

  async isReady(): Promise<boolean> {
    return this.claimerId !== undefined
  }

  /** Starts nothing more, gives back what waits, lets attempts in flight end, and records them. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#claimLoop.stop()
    await this.#giveBack(this.#lanes.withdraw(() => true))
    const patience = setTimeout(() => this.#cutOff(), this.#options.stopWithinMs)
    await Promise.all(this.#inFlight)
    clearTimeout(patience)
    await this.#recorder.settled()
    await this.#options.agent.destroy()
    await this.#claimer.stop()
  }

  #pump(): void {
    while (this.#busy < BUSY && this.claimerId !== undefined) {
      const job = this.#lanes.start()
      if (job === undefined) return
      this.#busy++
      const attempt = this.#attempt(job).finally(() => this.#inFlight.delete(attempt))
      this.#inFlight.add(attempt)
    }
  }

  async #attempt(job: Job): Promise<void> {
    const { agent, clock, timeoutMs, schedule, random } = this.#options
    const target = await this.#currentTarget(job.target).catch(() => null)
    if (!target?.signing) return this.#letGo(job, target)
    const startedAt = clock()
    const sent = outgoingOf(job, { url: target.url, signing: target.signing }, startedAt)
    const exchange = await post(agent, sent, timeoutMs)
    this.#lanes.end(job)
    if (this.#isCutOff) return this.#giveBack([job])
    this.#recorder.add(outcomeOf({ job, startedAt, sent, exchange }, { schedule, jitter: random() }))
    this.#pump()
  }

  /**
   * Makes no attempt: the endpoint is deleted (OP-97), its secret does not open (OP-107), or nothing of it can be told while
   * PostgreSQL is away.
   */
  async #letGo(job: Job, target: Target | null | undefined): Promise<void> {
    const { sql, clock, logger } = this.#options
    const isDeleted = target === undefined
    if (target) this.#backlog.rest(job.target.id, new Date(clock().getTime() + REST_MS))
    const jobs = [job, ...this.#lanes.withdraw(({ target }) => target.id === job.target.id)]
    this.#lanes.end(job)
    this.#lanes.forget(job)
    this.#busy--
    try {
      const ids = jobs.map(({ deliveryId }) => deliveryId)
      await (isDeleted ? endClaims(sql, job.claimedBy, ids) : this.#giveBack(jobs))
    } catch (error) {
      logger.warn({ err: error }, 'could not let go of deliveries: the end of their lease frees them')
    }
    if (!isDeleted) this.#backlog.note(job.target.id, clock(), true)
    this.#pump()
  }

  #settle(attempts: readonly Attempt[], recorded: ReadonlySet<string>): void {
    for (const attempt of attempts) {
      const { job, nextAttemptAt } = attempt
      const isRecorded = recorded.has(job.deliveryId)
      this.#busy--
      this.#lanes.forget(job)
      if (isRecorded && nextAttemptAt) this.#backlog.note(job.target.id, nextAttemptAt)
      measureAttempt(attempt, isRecorded)
      logAttempt(this.#options.logger, attempt, isRecorded)
    }
    if (attempts.some(({ job }) => this.#backlog.has(job.target.id))) this.#claimLoop.wake()
    this.#pump()
  }

  /** After the lock was lost for a while: lets go of what was taken over. What is in flight is fenced by its claim. */
  async #dropForeign(claimer: number): Promise<void> {
    const own = await claimsOf(this.#options.sql, claimer)
    this.#lanes.withdraw(({ deliveryId }) => !own.has(deliveryId))
  }

  /** Breaks off what is in flight: whether it arrived is not known, so it is made again. */
  #cutOff(): void {
    this.#isCutOff = true
    void this.#options.agent.destroy(new Error('stopping'))
  }

  async #giveBack(jobs: readonly Job[]): Promise<void> {
    if (jobs.length > 0) await releaseClaims(this.#options.sql, jobs)
  }
}
