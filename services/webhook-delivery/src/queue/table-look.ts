import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { noteMeasured } from '@backoffice/runtime/measurement-age.ts'
import { wakeSignal } from '@backoffice/runtime/wake-signal.ts'
import { measureWaiting } from '../results/delivery-metrics.ts'

/** How often to look for deliveries that become due; less often where looking takes long. */
const LOOK_EVERY_MS = 1000
const LOOKING_SHARE = 1 / 20
/**
 * The longest pause, in milliseconds, also after a look that waited for PostgreSQL; and the pause while nothing waits
 * in the table, since what comes is heard of (`notifyDue`).
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

export interface TableLookOptions {
  readonly sql: Sql
  readonly logger: Logger
  readonly clock: () => Date
  /** Whether deliveries to an endpoint are this process's to send now: what else waits is not measured. */
  isSendable(endpointId: string): boolean
  /** Called after each look with the endpoints that something is due for soon. */
  onLook(ready: readonly ReadyEndpoint[]): void
  /**
   * Called before a reading of the whole table begins, and when it has ended: what was due at its beginning is known.
   */
  onReading(): void
  onReadThrough(): void
}

/**
 * Looks for deliveries that this process does not know: every second for those that became due. It also reads the whole
 * table again and again, in parts, for those due longer. It pauses less after shards were taken.
 */
export class TableLook {
  readonly #options: TableLookOptions
  readonly #stopping = new AbortController()
  readonly #wakeSignal = wakeSignal()
  #lookedUpTo: Date | undefined
  #readUpTo = FIRST_QUEUE
  #read = new Waiting()
  #isEmpty = false
  /** How many more times the table is read with short pauses. */
  #hurried = 1
  #running: Promise<void> | undefined

  constructor(options: TableLookOptions) {
    this.#options = options
  }

  start(): void {
    noteMeasured(MEASUREMENT)
    this.#running = this.#run()
  }

  /** Shards were taken: finds soon what is due in them. */
  hurry(): void {
    // The present reading may have passed them, so the next one hurries too.
    this.#hurried = 2
    this.#lookedUpTo = undefined
    this.#wakeSignal.wake()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wakeSignal.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const startedAt = performance.now()
      let isFailed = false
      try {
        await this.#look()
      } catch (error) {
        isFailed = true
        this.#options.logger.warn({ err: error }, 'could not look for deliveries')
      }
      const tookMs = performance.now() - startedAt
      const isHurried = this.#hurried > 0 && !isFailed
      const pauseMs = this.#isEmpty ? LOOK_AT_LEAST_EVERY_MS : Math.max(LOOK_EVERY_MS, tookMs / LOOKING_SHARE)
      await this.#wakeSignal.wait(isHurried ? tookMs : Math.min(LOOK_AT_LEAST_EVERY_MS, pauseMs))
    }
  }

  async #look(): Promise<void> {
    const { sql, clock, onLook } = this.#options
    const now = clock()
    const soon = new Date(now.getTime() + AHEAD_MS)
    const since = Math.min(now.getTime() - OVERLAP_MS, this.#lookedUpTo?.getTime() ?? now.getTime() - FIRST_LOOK_MS)
    if (this.#readUpTo === FIRST_QUEUE) this.#options.onReading()
    const [due, read] = await Promise.all([
      dueBetween(sql, new Date(since), soon),
      readyAfter(sql, this.#readUpTo, BATCH_SIZE),
    ])
    this.#lookedUpTo = now
    this.#isEmpty = due.length === 0 && read.length === 0 && this.#readUpTo === FIRST_QUEUE
    onLook([...due, ...read].filter(({ dueAt }) => dueAt <= soon))
    this.#read.add(read.filter(({ endpointId }) => this.#options.isSendable(endpointId)))
    this.#readUpTo = read.at(-1) ?? FIRST_QUEUE
    if (read.length < BATCH_SIZE) this.#endReading(now)
    noteMeasured(MEASUREMENT)
  }

  #endReading(now: Date): void {
    measureWaiting(this.#read, now)
    this.#read = new Waiting()
    this.#readUpTo = FIRST_QUEUE
    this.#hurried = Math.max(0, this.#hurried - 1)
    this.#options.onReadThrough()
  }
}

/** What waits in the table, as far as it was read. */
class Waiting {
  queues = 0
  oldestDueAt = Number.POSITIVE_INFINITY

  add(read: readonly ReadyEndpoint[]): void {
    for (const { dueAt } of read) {
      this.queues++
      this.oldestDueAt = Math.min(this.oldestDueAt, dueAt.getTime())
    }
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
const FIRST_QUEUE: QueuePosition = { endpointId: '00000000-0000-0000-0000-000000000000', isRepeat: false }
