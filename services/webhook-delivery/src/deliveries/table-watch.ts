import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import type { Claimer } from './claimer.ts'
import { type OwnClaim, type ReadyEndpoint, readyEndpoints } from './claims.ts'
import { deadClaimFreer } from './dead-claims.ts'
import { measureBacklog } from './delivery-metrics.ts'
import type { Lanes } from './lanes.ts'
import { unheardClaims } from './unheard-claims.ts'

/** How often to look for deliveries that other replicas left or put back; less often where looking takes long. */
const LOOK_EVERY_MS = 1000
const LOOKING_SHARE = 1 / 20

export interface TableWatchOptions {
  readonly sql: Sql
  readonly logger: Logger
  readonly clock: () => Date
  /** Under which number this process claims; undefined while it may not. */
  readonly claimer: Pick<Claimer, 'id'>
  readonly lanes: Pick<Lanes, 'holds'>
  /** Called with claims of this process that it does not know of. */
  onUnheard(claimer: number, claims: readonly OwnClaim[]): void
  /** Called after each look with the endpoints that deliveries wait for. */
  onLook(ready: readonly ReadyEndpoint[]): void
}

/** Looks at the table for what this process cannot know by itself, and frees what dead claimers held. */
export class TableWatch {
  readonly #options: TableWatchOptions
  readonly #freeDeadClaims: (now: number) => Promise<void>
  readonly #unheardClaims: ReturnType<typeof unheardClaims>
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: TableWatchOptions) {
    this.#options = options
    this.#freeDeadClaims = deadClaimFreer(options.sql)
    this.#unheardClaims = unheardClaims(options.sql, (deliveryId) => options.lanes.holds(deliveryId))
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const startedAt = performance.now()
      try {
        await this.#look(startedAt)
      } catch (error) {
        this.#options.logger.warn({ err: error }, 'could not look for deliveries')
      }
      await pauseUnless(signal, Math.max(LOOK_EVERY_MS, (performance.now() - startedAt) / LOOKING_SHARE))
    }
  }

  async #look(startedAt: number): Promise<void> {
    const { sql, clock, claimer, onLook, onUnheard } = this.#options
    await this.#freeDeadClaims(startedAt)
    if (claimer.id !== undefined) onUnheard(claimer.id, await this.#unheardClaims(claimer.id))
    const ready = await readyEndpoints(sql)
    onLook(ready)
    measureBacklog(ready, clock())
  }
}
