import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { measureWaiting } from '../results/delivery-metrics.ts'
import { dueBetween, FIRST_QUEUE, type ReadyEndpoint, readyAfter, readyOnceResumed } from './claims.ts'

/** How often to look for deliveries that other replicas left or put back; less often where looking takes long. */
const LOOK_EVERY_MS = 1000
const LOOKING_SHARE = 1 / 20
/** The longest pause, in milliseconds, also after a look that waited for PostgreSQL. */
const LOOK_AT_LEAST_EVERY_MS = 5000
/** Deliveries due within this time are noted ahead, in milliseconds. */
const AHEAD_MS = 2 * LOOK_EVERY_MS
/** Each look goes back this far, in milliseconds: a transaction may commit after its deliveries are due. */
const OVERLAP_MS = 10_000
/** For so long after the end of a suspension its deliveries are looked for. */
const RESUMED_WITHIN_S = 30
/** Queues that one look reads through, besides what is due soon. */
const BATCH_SIZE = 1000

export interface TableWatchOptions {
  readonly sql: Sql
  readonly logger: Logger
  readonly clock: () => Date
  /** Called after each look with the endpoints that something is due for soon. */
  onLook(ready: readonly ReadyEndpoint[]): void
  /** Called each time the whole table was read: from then on all deliveries that were due at the start are known. */
  onReadThrough(): void
}

/**
 * Looks for deliveries that this process does not know: every second for those that became due. It also reads the whole
 * table again and again, in parts, for those due longer. It pauses less at the start, and after another process has
 * left.
 */
export class TableWatch {
  readonly #options: TableWatchOptions
  readonly #stopping = new AbortController()
  #lookedUpTo: Date | undefined
  #readUpTo = FIRST_QUEUE
  #read = new Waiting()
  /** How many more times the table is read with short pauses. */
  #hurried = 1
  #running: Promise<void> | undefined

  constructor(options: TableWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Another process left: finds the deliveries soon that only this one knew of. */
  hurry(): void {
    // The present reading may have passed them, so the next one hurries too.
    this.#hurried = 2
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
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
      const pauseMs = Math.min(LOOK_AT_LEAST_EVERY_MS, Math.max(LOOK_EVERY_MS, tookMs / LOOKING_SHARE))
      await pauseUnless(signal, isHurried ? tookMs : pauseMs)
    }
  }

  async #look(): Promise<void> {
    const { sql, clock, onLook } = this.#options
    const now = clock()
    const soon = new Date(now.getTime() + AHEAD_MS)
    const since = Math.min(now.getTime(), this.#lookedUpTo?.getTime() ?? now.getTime()) - OVERLAP_MS
    const [due, resumed, read] = await Promise.all([
      dueBetween(sql, new Date(since), soon),
      readyOnceResumed(sql, RESUMED_WITHIN_S),
      readyAfter(sql, this.#readUpTo, BATCH_SIZE),
    ])
    this.#lookedUpTo = now
    onLook([...due, ...resumed, ...read].filter(({ isPaused, dueAt }) => !isPaused && dueAt <= soon))
    this.#read.add(read)
    this.#readUpTo = read.at(-1) ?? FIRST_QUEUE
    if (read.length < BATCH_SIZE) this.#endReading(now)
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
    for (const { isPaused, dueAt } of read) {
      if (isPaused) continue
      this.queues++
      this.oldestDueAt = Math.min(this.oldestDueAt, dueAt.getTime())
    }
  }
}
