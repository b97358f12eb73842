import { setTimeout as pause } from 'node:timers/promises'
import type { Connections } from '@backoffice/outbound/connections.ts'
import { post } from '@backoffice/outbound/post.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type CurrentTarget, currentTargets, type EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isPaused, type Target } from '../endpoints/targets.ts'
import { logAttempt } from '../results/attempt-log.ts'
import { measureAttempt } from '../results/delivery-metrics.ts'
import { recordAttempts } from '../results/record-attempts.ts'
import { Recorder } from '../results/recorder.ts'
import type { EndpointQueue } from '../scheduling/endpoint-queue.ts'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import type { Job } from '../scheduling/job.ts'
import { type Attempt, outcomeOf, outgoingOf } from '../sending/attempt.ts'
import { inAttemptSpan } from '../sending/attempt-span.ts'
import { type Admission, admissionOf, type Backpressure, backpressureOf, isOverloaded } from './admission.ts'
import { ClaimLoop } from './claim-loop.ts'
import { type Claimer, claimer } from './claimer.ts'
import { claimsOf, endClaims, LEASE_S } from './claims.ts'
import { WaitingDeliveries } from './waiting-deliveries.ts'

/** Attempts started in one turn of the event loop, so that other work does not wait for more. */
const STARTS_PER_TURN = 32
/** For how long fresh events of many workspaces wait for room in memory, and how often they ask for it. */
const MEMORY_WITHIN_MS = 500
const MEMORY_ASKED_EVERY_MS = 10
/** How long an endpoint rests whose deliveries cannot be signed, in milliseconds. */
const COOLDOWN_MS = 10_000
/** The time for a stop unless `until` is given, and its last part for recording ended attempts, in milliseconds. */
const STOP_WITHIN_MS = 20_000
const RECORD_WITHIN_MS = 1000

const all = (queue: EndpointQueue): Job[] => queue.withdraw(() => true)

export interface DispatcherOptions {
  /** Of the worker role. */
  readonly sql: Sql
  /** Connects as the worker role: for the claimer's own connection. */
  readonly server: DatabaseServer
  readonly directory: EndpointDirectory
  readonly agent: Connections
  readonly logger: Logger
  /** Delay before each attempt in milliseconds (spec: Retries 2). */
  readonly schedule: readonly number[]
  /** A 2xx counts only within this many milliseconds (spec: Retries 1). */
  readonly timeoutMs?: number
  /** How long a job may wait in memory; the lease covers this and an attempt. */
  readonly maxWaitMs?: number
  readonly clock?: () => Date
  /** From 0 to 1. */
  readonly random?: () => number
}

/**
 * Makes the attempts: first attempts of fresh events straight from memory, all others when the claim loop brings them.
 * The table has every job before it is sent, so a process that dies loses none.
 */
export class Dispatcher implements Component {
  readonly name = 'dispatcher'
  readonly #options: Required<DispatcherOptions>
  readonly #claimer: Claimer
  readonly #currentTarget: CurrentTarget
  readonly #queues = new EndpointQueues()
  readonly #waitingDeliveries = new WaitingDeliveries()
  readonly #claimLoop: ClaimLoop
  readonly #recorder: Recorder
  #inFlight = 0
  #onNoneInFlight: (() => void) | undefined
  #isPumping = false
  #isStopping = false
  #isAborted = false

  constructor(options: DispatcherOptions) {
    this.#options = {
      timeoutMs: 20_000,
      maxWaitMs: 30_000,
      clock: () => new Date(),
      random: Math.random,
      ...options,
    }
    const { sql, server, directory, logger, clock, maxWaitMs } = this.#options
    this.#currentTarget = currentTargets(sql, directory)
    this.#claimer = claimer({ ...server, onRegained: (id) => this.#dropLostClaims(id) })
    this.#recorder = new Recorder({
      write: (attempts) => this.#write(attempts),
      onWritten: (attempts, recorded) => this.#settle(attempts, recorded),
      logger,
    })
    this.#claimLoop = new ClaimLoop({
      sql,
      claimer: this.#claimer,
      directory,
      queues: this.#queues,
      waitingDeliveries: this.#waitingDeliveries,
      logger,
      clock,
      maxWaitMs,
      onRound: () => this.#pump(),
    })
  }

  /** The number under which deliveries are claimed; undefined while none may be claimed. */
  get claimerId(): number | undefined {
    return this.#isStopping ? undefined : this.#claimer.id
  }

  /** Returns a function that tells of each first attempt whether it is admitted to memory. */
  admission(): Admission {
    return admissionOf(this.#queues, this.#waitingDeliveries)
  }

  /** Resolves when memory has room for fresh events, at the latest after MEMORY_WITHIN_MS. */
  async untilMemoryIsFree(): Promise<void> {
    const until = performance.now() + MEMORY_WITHIN_MS
    while (isOverloaded(this.#queues) && performance.now() < until) await pause(MEMORY_ASKED_EVERY_MS)
  }

  /** Returns a function that tells whether the fresh events of a workspace should wait. */
  backpressure(): Backpressure {
    return backpressureOf(this.#queues, this.#waitingDeliveries)
  }

  /**
   * Takes claimed first attempts after their commit. Gives them back when earlier ones of their endpoint wait in the
   * table by now (OP-74). Call it before `noteWaiting` for the refused ones of the same transaction.
   */
  accept(jobs: readonly Job[]): void {
    // The commit may have outlasted the lease: then this process may have claimed the delivery again.
    const own = jobs.filter(({ deliveryId }) => !this.#queues.holds(deliveryId))
    const behind = own.filter(({ target }) => this.#waitingDeliveries.hasWaitingFirstAttempts(target.id))
    for (const job of own)
      if (!this.#waitingDeliveries.hasWaitingFirstAttempts(job.target.id)) this.#queues.add(job, performance.now())
    this.#claimLoop.giveBack(behind)
    if (this.#isStopping) this.#claimLoop.giveBack(this.#queues.withdraw(all))
    this.#pump()
  }

  /** Notes that deliveries of these endpoints, perhaps first attempts, wait in the table and are due at `dueAt`. */
  noteWaiting(endpointIds: Iterable<string>, dueAt: Date): void {
    for (const endpointId of endpointIds) this.#waitingDeliveries.note(endpointId, dueAt, true)
    this.#claimLoop.wake()
  }

  async start(): Promise<void> {
    await this.#claimer.start()
    this.#claimLoop.start()
  }

  async isReady(): Promise<boolean> {
    return this.claimerId !== undefined
  }

  /**
   * Starts nothing more, leaves waiting jobs to other processes, waits for attempts in flight and records them. Aborts
   * attempts that have not ended shortly before `until` (`performance.now()`): the next claimer makes them again.
   */
  async stop(until = performance.now() + STOP_WITHIN_MS): Promise<void> {
    this.#isStopping = true
    const patience = setTimeout(() => this.#abortInFlight(), Math.max(0, until - performance.now() - RECORD_WITHIN_MS))
    await Promise.all([this.#leaveWaiting(), this.#noneInFlight()])
    clearTimeout(patience)
    await this.#claimLoop.leaveRest()
    await this.#recorder.settled()
    await this.#options.agent.destroy()
    await this.#claimer.stop()
  }

  async #leaveWaiting(): Promise<void> {
    await this.#claimLoop.stop()
    this.#claimLoop.giveBack(this.#queues.withdraw(all))
    await this.#claimLoop.leaveRest()
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
    for (let started = 0; started < STARTS_PER_TURN; started++) {
      const job = this.claimerId === undefined ? undefined : this.#queues.start(performance.now())
      if (job === undefined) return
      void this.#attempt(job)
    }
    this.#pump()
  }

  async #attempt(job: Job): Promise<void> {
    this.#inFlight++
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
    if (!target?.signing || isPaused(target)) return this.#withdrawEndpoint(job, target)
    if (performance.now() - job.claimedAt + timeoutMs > LEASE_S * 1000) return this.#giveBack(job)
    const startedAt = clock()
    const sent = outgoingOf(job, { url: target.url, signing: target.signing }, startedAt)
    const { exchange, trace } = await inAttemptSpan(job, () => post(agent, sent, { timeoutMs }))
    const { durationMs, failure } = exchange
    this.#queues.end(job, performance.now(), { durationMs, isDelivered: failure === null })
    if (this.#isAborted) return this.#claimLoop.giveBack([job])
    this.#recorder.add(outcomeOf({ job, trace, startedAt, sent, exchange }, { schedule, jitter: random() }))
  }

  /**
   * Makes no attempt, since the endpoint is deleted (OP-97), its workspace is suspended or deleted, its secret does not
   * open (OP-107), or PostgreSQL is away.
   */
  async #withdrawEndpoint(job: Job, target: Target | null | undefined): Promise<void> {
    const { sql, clock, logger } = this.#options
    if (target && isPaused(target)) this.#waitingDeliveries.pause(job.target.id)
    else if (target) this.#waitingDeliveries.rest(job.target.id, new Date(clock().getTime() + COOLDOWN_MS))
    const queue = this.#queues.get(job.target.id)
    const waiting = queue ? this.#queues.withdraw(all, [queue]) : []
    this.#queues.end(job, performance.now())
    this.#queues.forget(job)
    const claims = [job, ...waiting]
    if (target !== undefined) return this.#claimLoop.giveBack(claims)
    const ids = claims.map(({ deliveryId }) => deliveryId)
    await endClaims(sql, job.claimedBy, ids).catch((error) => {
      logger.warn({ err: error }, 'could not end the deliveries of a deleted endpoint: they are claimed again')
      this.#claimLoop.giveBack(claims)
    })
  }

  /** Makes no attempt: it could outlast the lease, and another claimer would make it too. */
  #giveBack(job: Job): void {
    this.#queues.end(job, performance.now())
    this.#queues.forget(job)
    this.#claimLoop.giveBack([job])
  }

  async #write(attempts: readonly Attempt[]): Promise<Set<string>> {
    const startedAt = performance.now()
    const recorded = await recordAttempts(this.#options.sql, attempts)
    this.#queues.noteWrite(performance.now() - startedAt, attempts.length)
    return recorded
  }

  #settle(attempts: readonly Attempt[], recorded: ReadonlySet<string>): void {
    for (const attempt of attempts) {
      const { job, nextAttemptAt } = attempt
      const isRecorded = recorded.has(job.deliveryId)
      this.#queues.forget(job)
      this.#waitingDeliveries.unpark(job.target.id)
      if (isRecorded && nextAttemptAt) this.#waitingDeliveries.note(job.target.id, nextAttemptAt)
      measureAttempt(attempt, isRecorded)
      logAttempt(this.#options.logger, attempt, isRecorded)
    }
    this.#claimLoop.wakeIfDue()
    this.#pump()
  }

  /** Drops the waiting jobs whose claims were lost with the lock. Attempts in flight are fenced by their claims. */
  async #dropLostClaims(claimer: number): Promise<void> {
    const own = await claimsOf(this.#options.sql, claimer)
    this.#queues.withdraw((queue) => queue.withdraw(({ deliveryId }) => !own.has(deliveryId)))
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
