import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { wakeSignal } from '@backoffice/runtime/wake-signal.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isPaused } from '../endpoints/targets.ts'
import { heldAtMost } from '../scheduling/concurrency.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { type Claim, isFirst } from '../scheduling/job.ts'
import { ClaimWatch } from './claim-watch.ts'
import { type Claimed, claimOf, jobsOf } from './claimed-jobs.ts'
import type { Claimer } from './claimer.ts'
import { type ClaimedDelivery, claimDue, endClaims, type ReadyEndpoint, type Wanted } from './claims.ts'
import { ReturnedClaims } from './returned-claims.ts'
import { TableWatch } from './table-watch.ts'
import type { WaitingDeliveries } from './waiting-deliveries.ts'
import { claimableBytes, wantedFrom } from './wanted.ts'

/** The pause after a round, in milliseconds, so that one statement claims for many endpoints. */
const ROUND_MS = 10
/** How often waiting jobs are checked for their age and for slow endpoints, in milliseconds. */
const TIDY_EVERY_MS = 250
const TRY_AGAIN_MS = 1000

export interface ClaimLoopOptions {
  readonly sql: Sql
  readonly claimer: Claimer
  readonly directory: EndpointDirectory
  readonly queues: EndpointQueues
  readonly waitingDeliveries: WaitingDeliveries
  readonly logger: Logger
  readonly clock: () => Date
  /** A job that waited longer is given back, so that its attempt ends well before the lease does. */
  readonly maxWaitMs: number
  /** Called after each round, some times a second: there may be jobs to start. */
  onRound(): void
}

/**
 * Claims due deliveries and adds them to the queues: retries, deliveries without room in memory, and those of dead
 * claimers. Gives back jobs that waited too long, and the excess jobs of endpoints that turned out to be slow.
 */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions
  readonly #wakeSignal = wakeSignal()
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
      onReadThrough: () => options.waitingDeliveries.noteReadThrough(),
    })
    this.#claimWatch = new ClaimWatch({
      ...options,
      onFreed: (freed) => {
        this.#note(freed.map((queue) => ({ ...queue, dueAt: options.clock() })))
        this.#tableWatch.hurry()
      },
      onOrphaned: (claimedBy, claims) =>
        this.giveBack(claims.map((claim) => claimOf(claim, { claimedBy, claimedAt: performance.now() }))),
    })
    this.#returned = new ReturnedClaims((claim) =>
      options.waitingDeliveries.note(claim.target.id, options.clock(), isFirst(claim)),
    )
  }

  /** Does not wait until the table is read: until then first attempts of any endpoint may wait in it (OP-74). */
  start(): void {
    this.#claimWatch.start()
    this.#tableWatch.start()
    this.#running = this.#run()
  }

  /** Starts a round. Call it when a delivery becomes due earlier than was known. */
  wake(): void {
    this.#wakeSignal.wake()
  }

  /** Starts a round if deliveries are due, or nearly. Call it when endpoints may have room again. */
  wakeIfDue(): void {
    const { waitingDeliveries, clock } = this.#options
    const nextDueAt = waitingDeliveries.nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY
    if (waitingDeliveries.isDue || nextDueAt < clock().getTime() + TIDY_EVERY_MS) this.wake()
  }

  /** Gives claims back: later first attempts go to the table from now on, behind these (OP-74). */
  giveBack(claims: readonly Claim[]): void {
    if (claims.length === 0) return
    this.#returned.add(claims)
    this.wake()
  }

  /** Stops claiming. Claims that are given back afterwards wait for `leaveRest`. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await Promise.all([this.#claimWatch.stop(), this.#tableWatch.stop(), this.#running])
  }

  /** Leaves the remaining claims to other processes, after `stop`. Else they are freed soon after the lock is gone. */
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
        // While PostgreSQL is away, the next round tries to give back the rest.
        await this.#returned.giveBack(sql).catch(() => undefined)
        await pause(TRY_AGAIN_MS)
      }
      await this.#wakeSignal.wait(this.#untilNextRound())
    }
  }

  #untilNextRound(): number {
    const { waitingDeliveries, clock } = this.#options
    const untilDue = (waitingDeliveries.nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock().getTime()
    return Math.max(0, Math.min(untilDue, this.#tidyAt - performance.now()))
  }

  async #round(): Promise<void> {
    const { sql, claimer, waitingDeliveries, queues, clock, onRound } = this.#options
    if (performance.now() >= this.#tidyAt) this.#tidy()
    await this.#returned.giveBack(sql)
    const wanted = claimer.id === undefined ? [] : wantedFrom(waitingDeliveries, queues, clock())
    if (claimer.id !== undefined && wanted.length > 0) {
      await this.#claim(claimer.id, wanted)
      // Some endpoints may have more.
      this.wake()
    }
    onRound()
  }

  #note(ready: readonly Omit<ReadyEndpoint, 'isPaused'>[]): void {
    const { waitingDeliveries, queues } = this.#options
    for (const { endpointId, isRepeat, dueAt } of ready) {
      waitingDeliveries.resume(endpointId)
      // Times are cut to milliseconds, so the delivery may be due up to 1 ms later.
      waitingDeliveries.note(endpointId, new Date(dueAt.getTime() + 1), !isRepeat)
      if (!waitingDeliveries.isReadThrough) queues.assumeSlow(endpointId)
    }
    waitingDeliveries.unparkAll()
    this.wake()
  }

  #tidy(): void {
    const { queues, maxWaitMs } = this.#options
    const now = performance.now()
    this.#tidyAt = now + TIDY_EVERY_MS
    queues.noteStall(now)
    this.giveBack(
      queues.withdraw((queue) => {
        // Gives back the whole queue: its later jobs must not overtake the earlier ones (OP-74).
        if (now - (queue.waitingSince ?? now) > maxWaitMs) return queue.withdraw(() => true)
        return queue.trim(heldAtMost(queue.concurrency))
      }),
    )
  }

  async #claim(claimer: number, wanted: readonly Wanted[]): Promise<void> {
    const { sql, queues, waitingDeliveries, clock } = this.#options
    const upTo = waitingDeliveries.notes
    const now = clock()
    const held = { claimedBy: claimer, claimedAt: performance.now() }
    const maxBytes = claimableBytes(queues)
    const claimed = await claimDue(sql, wanted, { claimer, now, maxBytes })
    await this.#takeIn(claimed, held)
    if (claimed.reduce((bytes, { body }) => bytes + body.length, 0) >= maxBytes) return
    const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
    for (const { endpointId, firstAttempts, repeats } of wanted) {
      const own = byEndpoint.get(endpointId) ?? []
      const ownFirstAttempts = own.filter(isFirst).length
      if (ownFirstAttempts === firstAttempts && firstAttempts > 0) continue
      waitingDeliveries.noteFirstAttemptsClaimed(endpointId, upTo)
      if (own.length - ownFirstAttempts < repeats) waitingDeliveries.clear(endpointId, now, upTo)
    }
  }

  /** Adds claimed deliveries to the queues. Gives back those of paused endpoints, and ends those of deleted ones. */
  async #takeIn(claimed: readonly ClaimedDelivery[], held: Claimed): Promise<void> {
    const { sql, directory, queues, waitingDeliveries, clock } = this.#options
    const paused: Claim[] = []
    const claims = new Map(claimed.map((delivery) => [delivery.id, claimOf(delivery, held)]))
    try {
      const workspaceIds = claimed.map(({ workspaceId }) => workspaceId)
      const workspaces = await directory.of(sql, workspaceIds)
      for (const job of jobsOf(claimed, workspaces, clock(), held)) {
        claims.delete(job.deliveryId)
        if (isPaused(job.target)) paused.push(job)
        else queues.add(job, performance.now())
      }
      for (const { target } of paused) waitingDeliveries.pause(target.id)
      this.giveBack(paused)
      if (claims.size > 0) await endClaims(sql, held.claimedBy, [...claims.keys()])
    } catch (error) {
      this.giveBack([...claims.values()])
      throw error
    }
  }
}
