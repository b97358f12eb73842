import type { Sql } from '@backoffice/postgres/database.ts'
import { noteMeasured } from '@backoffice/runtime/measurement-age.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { type RunningWorker, worker } from '@backoffice/runtime/worker.ts'
import { NIL } from 'uuid'
import type { Ownership } from '../shards/ownership.ts'
import type { DueEndpoints } from './due-endpoints.ts'
import type { DueReaderOptions } from './due-reader.ts'

const waiting = gauge('webhook_endpoints_waiting', 'Endpoints with deliveries that wait in the table, due or not')
const overdue = gauge(
  'webhook_oldest_due_seconds',
  'For how long the oldest delivery that is due has been, since its endpoint has last kept it waiting',
  's',
)

/** How often to look for deliveries that become due; less often where looking takes long. */
const LOOK_EVERY_MS = 1000
const LOOKING_SHARE = 1 / 20
/**
 * The longest pause, in milliseconds; the pause after a look that failed; and the pause while nothing waits in the
 * table: a notification tells of what comes (`notifyDue`).
 */
const LOOK_AT_LEAST_EVERY_MS = 5000
/** Deliveries due within this time are noted ahead, in milliseconds. */
const AHEAD_MS = 2 * LOOK_EVERY_MS
/** Each look goes back this far, in milliseconds: a transaction may commit after its deliveries are due. */
const OVERLAP_MS = 10_000
/**
 * The first look, and the one after shards were taken, go back this far: only older deliveries wait for the reading.
 */
const FIRST_LOOK_MS = 60_000
/** Queues that one look reads through, besides what is due soon. */
const BATCH_SIZE = 1000
const MEASUREMENT = 'due deliveries'
const NOTHING = { queues: 0, oldestDueAt: Number.POSITIVE_INFINITY }

export interface TableLookOptions extends Pick<DueReaderOptions, 'sql' | 'logger' | 'clock'> {
  readonly due: Pick<DueEndpoints, 'beginReading' | 'endReading'>
  readonly ownership: Pick<Ownership, 'own'>
  /**
   * Until when an endpoint itself has kept its deliveries waiting, in Unix milliseconds. Infinity when they are not
   * this process's to send now: these are not measured.
   */
  keptUntil(endpointId: string): number
  /** Called after each look with the endpoints that something is due for soon. */
  onLook(ready: readonly ReadyEndpoint[]): void
}

/**
 * Looks for deliveries that this process does not know: every second for those that became due. It also reads the whole
 * table again and again, in parts, for those due longer. It pauses less after shards were taken.
 */
export class TableLook {
  readonly #options: TableLookOptions
  readonly #worker: RunningWorker
  #lookedUpTo: Date | undefined
  #readUpTo = FIRST_QUEUE
  /** What waits in the table, as far as it was read; the time in Unix milliseconds. */
  #waiting = NOTHING
  /** How often shards were taken. */
  #timesTaken = 0
  /** How many more times the table is read with short pauses. */
  #fastReadings = 1

  constructor(options: TableLookOptions) {
    this.#options = options
    const { logger } = options
    this.#worker = worker({ name: 'due deliveries', everyMs: LOOK_AT_LEAST_EVERY_MS, logger, work: () => this.#look() })
  }

  async start(): Promise<void> {
    noteMeasured(MEASUREMENT)
    await this.#worker.start()
  }

  /** Shards were taken: finds soon what is due in them. */
  hurry(): void {
    // The present reading may have passed them, so the next one hurries too.
    this.#fastReadings = 2
    this.#timesTaken++
    this.#lookedUpTo = undefined
    this.#worker.wake()
  }

  async stop(): Promise<void> {
    await this.#worker.stop()
  }

  /** Looks once. Returns the pause until the next look in milliseconds. */
  async #look(): Promise<number> {
    const { sql, clock, due, ownership, onLook } = this.#options
    const [startedAt, now] = [performance.now(), clock()]
    const soon = new Date(now.getTime() + AHEAD_MS)
    const since = Math.min(now.getTime() - OVERLAP_MS, this.#lookedUpTo?.getTime() ?? now.getTime() - FIRST_LOOK_MS)
    const isFirstPart = this.#readUpTo === FIRST_QUEUE
    const timesTaken = this.#timesTaken
    if (isFirstPart) due.beginReading(ownership.own)
    const [dueSoon, read] = await Promise.all([
      dueBetween(sql, new Date(since), soon),
      readyAfter(sql, this.#readUpTo, BATCH_SIZE),
    ])
    // This look may have passed shards that were taken meanwhile.
    if (timesTaken === this.#timesTaken) this.#lookedUpTo = now
    onLook([...dueSoon, ...read].filter(({ dueAt }) => dueAt <= soon))
    this.#noteWaiting(read)
    this.#readUpTo = read.at(-1) ?? FIRST_QUEUE
    if (read.length < BATCH_SIZE) this.#endReading(now)
    noteMeasured(MEASUREMENT)
    const tookMs = performance.now() - startedAt
    if (this.#fastReadings > 0) return tookMs
    if (isFirstPart && dueSoon.length === 0 && read.length === 0) return LOOK_AT_LEAST_EVERY_MS
    return Math.min(LOOK_AT_LEAST_EVERY_MS, Math.max(LOOK_EVERY_MS, tookMs / LOOKING_SHARE))
  }

  #noteWaiting(read: readonly ReadyEndpoint[]): void {
    const times = read
      .map(({ endpointId, dueAt }) => Math.max(dueAt.getTime(), this.#options.keptUntil(endpointId)))
      .filter(Number.isFinite)
    const { queues, oldestDueAt } = this.#waiting
    this.#waiting = { queues: queues + times.length, oldestDueAt: Math.min(oldestDueAt, ...times) }
  }

  #endReading(now: Date): void {
    waiting.record(this.#waiting.queues)
    overdue.record(Math.max(0, now.getTime() - this.#waiting.oldestDueAt) / 1000)
    this.#waiting = NOTHING
    this.#readUpTo = FIRST_QUEUE
    this.#fastReadings = Math.max(0, this.#fastReadings - 1)
    this.#options.due.endReading()
  }
}

/** An endpoint with due first attempts, or repeats (`isRepeat`), and when the first of these is due. */
export interface ReadyEndpoint {
  endpointId: string
  isRepeat: boolean
  dueAt: Date
}

/** The endpoints with waiting deliveries that are due after `from` and up to `to`. */
const dueBetween = (sql: Sql, from: Date, to: Date) => sql<ReadyEndpoint[]>`
  select endpoint_id as "endpointId", attempts_made > 0 as "isRepeat", min(due_at) as "dueAt" from delivery
  where due_at > ${from} and due_at <= ${to} and claimed_by is null
  group by endpoint_id, attempts_made > 0`

/**
 * The next endpoints that have waiting deliveries, in the order of their ids: an index probe for each queue, however
 * many deliveries wait in it.
 */
const readyAfter = (sql: Sql, { endpointId, isRepeat }: QueuePosition, limit: number) => sql<ReadyEndpoint[]>`
  with recursive ready as (
    (
      select endpoint_id, attempts_made > 0 as is_later, due_at from delivery
      where due_at is not null and claimed_by is null and (endpoint_id, (attempts_made > 0)) > (${endpointId}::uuid, ${isRepeat}::boolean)
      order by endpoint_id, (attempts_made > 0), due_at limit 1
    )
    union all
    select following.endpoint_id, following.is_later, following.due_at
    from ready cross join lateral (
      select endpoint_id, attempts_made > 0 as is_later, due_at from delivery
      where due_at is not null and claimed_by is null
        and (endpoint_id, (attempts_made > 0)) > (ready.endpoint_id, ready.is_later)
      order by endpoint_id, (attempts_made > 0), due_at limit 1
    ) following
  )
  select endpoint_id as "endpointId", is_later as "isRepeat", due_at as "dueAt"
  from (select * from ready limit ${limit}) ready`

/** A queue of an endpoint in the table: its first attempts, or its repeats. */
type QueuePosition = Pick<ReadyEndpoint, 'endpointId' | 'isRepeat'>

/** The position before all queues. */
const FIRST_QUEUE: QueuePosition = { endpointId: NIL, isRepeat: false }
