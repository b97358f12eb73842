import { setTimeout as pause } from 'node:timers/promises'
import { alarm } from '@backoffice/messaging/alarm.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import type { Backlog } from './backlog.ts'
import type { Claimer } from './claimer.ts'
import { type ClaimedDelivery, claimDue, endClaims, readyEndpoints, releaseClaims, type Wanted } from './claims.ts'
import { deadClaimFreer } from './dead-claims.ts'
import { measureBacklog } from './delivery-metrics.ts'
import type { Job } from './job.ts'
import { CAPACITY, type Lanes } from './lanes.ts'

/** How often to look for deliveries that other replicas left or put back; less often where looking takes long. */
const LOOK_EVERY_MS = 1000
const LOOKING_SHARE = 1 / 20
/** Endpoints are claimed for in rounds, so that what is wanted at about the same time is asked for together. */
const ROUND_MS = 10
const ENDPOINTS_A_ROUND = 200
/** An endpoint's lane is filled up to this many jobs when half of it or less is left. */
const LANE_FILL = 64
/** Claims leave half of the memory to first attempts of fresh events. */
const RESERVED = CAPACITY / 2
const MAX_BYTES = 16 * 1024 * 1024

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
  /** Called after each round, at least once a second: there may be jobs to start. */
  onRound(): void
}

/** Brings what is due from the table into the lanes: retries, what found no room, and what dead claimers left. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions
  readonly #alarm = alarm()
  #lookAt = 0
  readonly #freeDeadClaims: (now: number) => Promise<void>
  #isStopping = false
  #running: Promise<void> | undefined

  constructor(options: ClaimLoopOptions) {
    this.#options = options
    this.#freeDeadClaims = deadClaimFreer(options.sql)
  }

  start(): void {
    this.#running = this.#run()
  }

  /** To be called when something became due, or an endpoint got room, earlier than was known. */
  wake(): void {
    this.#alarm.ring()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#round()
        await pause(ROUND_MS)
      } catch (error) {
        this.#options.logger.warn({ err: error }, 'could not claim deliveries')
        await pause(LOOK_EVERY_MS)
      }
      await this.#alarm.wait(this.#untilNextRound())
    }
  }

  #untilNextRound(): number {
    const { backlog, clock } = this.#options
    const now = clock()
    const untilDue = (backlog.nextDueAfter(now)?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()
    return Math.max(0, Math.min(untilDue, this.#lookAt - performance.now()))
  }

  async #round(): Promise<void> {
    const claimer = this.#options.claimer.id
    if (claimer === undefined) return
    if (performance.now() >= this.#lookAt) await this.#look()
    const wanted = this.#wanted()
    if (wanted.length > 0) await this.#claim(claimer, wanted)
    if (wanted.length === ENDPOINTS_A_ROUND) this.wake()
    this.#options.onRound()
  }

  async #look(): Promise<void> {
    const { sql, backlog, clock } = this.#options
    const startedAt = performance.now()
    await this.#giveBackStale(startedAt)
    await this.#freeDeadClaims(startedAt)
    const ready = await readyEndpoints(sql)
    for (const { endpointId, dueAt } of ready) backlog.note(endpointId, dueAt)
    measureBacklog(ready, clock())
    const endedAt = performance.now()
    this.#lookAt = endedAt + Math.max(LOOK_EVERY_MS, (endedAt - startedAt) / LOOKING_SHARE)
  }

  async #giveBackStale(now: number): Promise<void> {
    const { sql, lanes, backlog, clock, maxWaitMs } = this.#options
    const stale = lanes.withdraw((job) => now - job.claimedAt > maxWaitMs)
    if (stale.length === 0) return
    await releaseClaims(sql, stale)
    for (const job of stale) backlog.note(job.target.id, clock(), job.attemptsMade === 0)
  }

  #wanted(): Wanted[] {
    const { lanes, backlog, clock } = this.#options
    const wanted: Wanted[] = []
    let taken = RESERVED
    for (const endpointId of backlog.due(clock())) {
      const held = lanes.heldFor(endpointId)
      const places = Math.min(LANE_FILL - held, lanes.roomFor(endpointId, taken))
      if (held > LANE_FILL / 2 || places <= 0 || lanes.isStuck(endpointId)) continue
      wanted.push({ endpointId, places })
      taken += places
      if (wanted.length === ENDPOINTS_A_ROUND) break
    }
    return wanted
  }

  async #claim(claimer: number, wanted: readonly Wanted[]): Promise<void> {
    const { sql, lanes, backlog, clock } = this.#options
    const upTo = backlog.notes
    const claimedAt = performance.now()
    const maxBytes = Math.min(MAX_BYTES, lanes.roomInBytes)
    const claimed = await claimDue(sql, wanted, { claimer, now: clock(), maxBytes })
    for (const job of await this.#jobsOf(claimed, claimer, claimedAt)) lanes.add(job)
    const isAll = claimed.reduce((bytes, { body }) => bytes + body.length, 0) < maxBytes
    const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
    for (const { endpointId, places } of wanted) {
      if (isAll && (byEndpoint.get(endpointId)?.length ?? 0) < places) backlog.clear(endpointId, upTo)
    }
  }

  async #jobsOf(claimed: readonly ClaimedDelivery[], claimedBy: number, claimedAt: number): Promise<Job[]> {
    const workspaces = await this.#options.directory.of(
      this.#options.sql,
      claimed.map(({ workspaceId }) => workspaceId),
    )
    const now = this.#options.clock()
    const bodies = new Map<string, Buffer>()
    const orphans: string[] = []
    const jobs = claimed.flatMap(({ id, endpointId, workspaceId, body: text, ...delivery }) => {
      const target = workspaces.get(workspaceId)?.get(endpointId)
      if (target === undefined) {
        orphans.push(id)
        return []
      }
      const body = bodies.get(delivery.eventId) ?? Buffer.from(text)
      bodies.set(delivery.eventId, body)
      return [jobOf(id, delivery, now, { target, body, claimedBy, claimedAt })]
    })
    if (orphans.length > 0) await endClaims(this.#options.sql, claimedBy, orphans)
    return jobs
  }
}

type Claim = Omit<ClaimedDelivery, 'id' | 'endpointId' | 'workspaceId' | 'body'>

/** What is due on the schedule by now is an attempt on it, a resend that was asked for besides included. */
function jobOf(
  deliveryId: string,
  { status, nextAttemptAt, resendAt, deliveredAt, dueAt: _, ...delivery }: Claim,
  now: Date,
  held: Pick<Job, 'target' | 'body' | 'claimedBy' | 'claimedAt'>,
): Job {
  const isScheduled = nextAttemptAt !== null && nextAttemptAt <= now
  return {
    ...delivery,
    ...held,
    deliveryId,
    resend: isScheduled ? undefined : { status, nextAttemptAt: nextAttemptAt ?? undefined },
    resendAt: resendAt ?? undefined,
    deliveredAt: deliveredAt ?? undefined,
  }
}
