import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { wakeSignal } from '@backoffice/runtime/wake-signal.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isPaused } from '../endpoints/targets.ts'
import type { Backlog } from './backlog.ts'
import { ClaimWatch } from './claim-watch.ts'
import { type Claimed, claimOf, jobsOf } from './claimed-jobs.ts'
import type { Claimer } from './claimer.ts'
import { type ClaimedDelivery, claimDue, endClaims, type ReadyEndpoint, type Wanted } from './claims.ts'
import { type Claim, isFirst } from './job.ts'
import type { Lanes } from './lanes.ts'
import { heldAtMost } from './pace.ts'
import { ReturnedClaims } from './returned-claims.ts'
import { TableWatch } from './table-watch.ts'
import { roomInBytes, wantedFrom } from './wanted.ts'

/** Endpoints are claimed for in rounds, so that what is wanted at about the same time is asked for together. */
const ROUND_MS = 10
/** How often is looked at what waits in memory. */
const TIDY_EVERY_MS = 250
const TRY_AGAIN_MS = 1000

export interface ClaimLoopOptions {
  readonly sql: Sql
  readonly claimer: Claimer
  readonly directory: EndpointDirectory
  readonly lanes: Lanes
  readonly backlog: Backlog
  readonly logger: Logger
  readonly clock: () => Date
  /** A job that waited so long in memory is given back, so that an attempt ends well before the lease does. */
  readonly maxWaitMs: number
  /** Called after each round, some times a second: there may be jobs to start. */
  onRound(): void
}

/**
 * Brings what is due from the table into the lanes: retries, what found no room, and what dead claimers left. Takes back what
 * waits in them for too long, or for an endpoint that turned out to be slow.
 */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions
  readonly #alarm = wakeSignal()
  readonly #tableWatch: TableWatch
  readonly #claimWatch: ClaimWatch
  /** To be given back before more is claimed. */
  readonly #returned: ReturnedClaims
  #tidyAt = 0
  #isStopping = false
  #running: Promise<void> | undefined

  constructor(options: ClaimLoopOptions) {
    this.#options = options
    this.#tableWatch = new TableWatch({
      ...options,
      onLook: (ready) => this.#note(ready),
      onReadThrough: () => options.backlog.noteReadThrough(),
    })
    this.#claimWatch = new ClaimWatch({
      ...options,
      onFreed: (freed) => {
        this.#note(freed.map((queue) => ({ ...queue, dueAt: options.clock() })))
        this.#tableWatch.hurry()
      },
      onUnheard: (claimedBy, claims) =>
        this.giveBack(claims.map((claim) => claimOf(claim, { claimedBy, claimedAt: performance.now() }))),
    })
    this.#returned = new ReturnedClaims((claim) =>
      options.backlog.note(claim.target.id, options.clock(), isFirst(claim)),
    )
  }

  /** Waits for no look at the table: until it was read through, first attempts of any endpoint may wait in it (OP-74). */
  start(): void {
    this.#claimWatch.start()
    this.#tableWatch.start()
    this.#running = this.#run()
  }

  /** To be called when something became due earlier than was known. */
  wake(): void {
    this.#alarm.wake()
  }

  /** To be called when endpoints may have room again, or something may be due earlier than was known. */
  wakeIfDue(): void {
    const { backlog, clock } = this.#options
    const nextDueAt = backlog.nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY
    if (backlog.isDue || nextDueAt < clock().getTime() + TIDY_EVERY_MS) this.wake()
  }

  /** Gives claims back: later first attempts go to the table from now on, behind these (OP-74). */
  giveBack(claims: readonly Claim[]): void {
    if (claims.length === 0) return
    this.#returned.add(claims)
    this.wake()
  }

  /** Stops claiming; what is to be given back from then on is for `leaveRest`. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await Promise.all([this.#claimWatch.stop(), this.#tableWatch.stop(), this.#running])
  }

  /** Leaves what was to be given back to other processes, once stopped. What cannot be is free soon after the claimer's lock is. */
  async leaveRest(): Promise<void> {
    const { sql, logger } = this.#options
    await this.#returned.leave(sql).catch((error) => {
      logger.warn({ err: error }, 'could not give back deliveries')
    })
  }

  async #run(): Promise<void> {
    const { sql, logger } = this.#options
    while (!this.#isStopping) {
      try {
        await this.#round()
        await pause(ROUND_MS)
      } catch (error) {
        logger.warn({ err: error }, 'could not claim deliveries')
        // What cannot be given back now, since PostgreSQL is away, is tried again with the next round.
        await this.#returned.giveBack(sql).catch(() => undefined)
        await pause(TRY_AGAIN_MS)
      }
      await this.#alarm.wait(this.#untilNextRound())
    }
  }

  #untilNextRound(): number {
    const { backlog, clock } = this.#options
    const untilDue = (backlog.nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock().getTime()
    return Math.max(0, Math.min(untilDue, this.#tidyAt - performance.now()))
  }

  async #round(): Promise<void> {
    const { sql, claimer, backlog, lanes, clock, onRound } = this.#options
    if (performance.now() >= this.#tidyAt) this.#tidy()
    await this.#returned.giveBack(sql)
    const wanted = claimer.id === undefined ? [] : wantedFrom(backlog, lanes, clock())
    if (claimer.id !== undefined && wanted.length > 0) {
      await this.#claim(claimer.id, wanted)
      // For some there may be more.
      this.wake()
    }
    onRound()
  }

  #note(ready: readonly Omit<ReadyEndpoint, 'isPaused'>[]): void {
    const { backlog, lanes } = this.#options
    for (const { endpointId, isLater, dueAt } of ready) {
      backlog.resume(endpointId)
      // The table knows fractions of a millisecond, which are cut off here.
      backlog.note(endpointId, new Date(dueAt.getTime() + 1), !isLater)
      if (!backlog.isReadThrough) lanes.suspect(endpointId)
    }
    backlog.unparkAll()
    this.wake()
  }

  #tidy(): void {
    const { lanes, maxWaitMs } = this.#options
    const now = performance.now()
    this.#tidyAt = now + TIDY_EVERY_MS
    lanes.noteSilence(now)
    this.giveBack(
      lanes.withdraw((lane) => {
        // All of the lane's, since those that came later must not overtake (OP-74).
        if (now - (lane.waitingSince ?? now) > maxWaitMs) return lane.withdraw(() => true)
        return lane.trim(heldAtMost(lane.pace))
      }),
    )
  }

  async #claim(claimer: number, wanted: readonly Wanted[]): Promise<void> {
    const { sql, lanes, backlog, clock } = this.#options
    const upTo = backlog.notes
    const now = clock()
    const held = { claimedBy: claimer, claimedAt: performance.now() }
    const maxBytes = roomInBytes(lanes)
    const claimed = await claimDue(sql, wanted, { claimer, now, maxBytes })
    await this.#takeIn(claimed, held)
    if (claimed.reduce((bytes, { body }) => bytes + body.length, 0) >= maxBytes) return
    const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
    for (const { endpointId, firsts, laters } of wanted) {
      const own = byEndpoint.get(endpointId) ?? []
      const ownFirsts = own.filter(isFirst).length
      if (ownFirsts === firsts && firsts > 0) continue
      backlog.catchUp(endpointId, upTo)
      if (own.length - ownFirsts < laters) backlog.clear(endpointId, now, upTo)
    }
  }

  /** Claims that cannot be worked on now are given back. */
  async #takeIn(claimed: readonly ClaimedDelivery[], held: Claimed): Promise<void> {
    const { sql, directory, lanes, backlog, clock } = this.#options
    const paused: Claim[] = []
    const claims = new Map(claimed.map((delivery) => [delivery.id, claimOf(delivery, held)]))
    try {
      const workspaceIds = claimed.map(({ workspaceId }) => workspaceId)
      const workspaces = await directory.of(sql, workspaceIds)
      for (const job of jobsOf(claimed, workspaces, clock(), held)) {
        claims.delete(job.deliveryId)
        if (isPaused(job.target)) paused.push(job)
        else lanes.add(job, performance.now())
      }
      for (const { target } of paused) backlog.pause(target.id)
      this.giveBack(paused)
      if (claims.size > 0) await endClaims(sql, held.claimedBy, [...claims.keys()])
    } catch (error) {
      this.giveBack([...claims.values()])
      throw error
    }
  }
}
