import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import type { Claimer } from './claimer.ts'
import type { OwnClaim } from './claims.ts'
import { deadClaimFreer, type FreedQueue } from './dead-claims.ts'
import { orphanedClaims } from './orphaned-claims.ts'

const EVERY_MS = 1000

export interface ClaimWatchOptions {
  readonly sql: Sql
  readonly logger: Logger
  /** Under which number this process claims; undefined while it may not. */
  readonly claimer: Pick<Claimer, 'id'>
  readonly queues: Pick<EndpointQueues, 'holds'>
  /** Called with claims of this process that it does not know of. */
  onOrphaned(claimer: number, claims: readonly OwnClaim[]): void
  /** Called with the endpoints of freed deliveries: perhaps no other process knows of these deliveries. */
  onFreed(freed: readonly FreedQueue[]): void
}

/** Frees the claims of dead claimers every second, in a loop that slow table reads do not delay (decision 006). */
export class ClaimWatch {
  readonly #options: ClaimWatchOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: ClaimWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { sql, logger, claimer, queues, onFreed, onOrphaned } = this.#options
    const { signal } = this.#stopping
    const freeDeadClaims = deadClaimFreer(sql, onFreed)
    const findOrphaned = orphanedClaims(sql, (deliveryId) => queues.holds(deliveryId))
    while (!signal.aborted) {
      try {
        await freeDeadClaims(performance.now())
        const { id } = claimer
        if (id !== undefined) onOrphaned(id, await findOrphaned(id))
      } catch (error) {
        logger.warn({ err: error }, 'could not free claims')
      }
      await pauseUnless(signal, EVERY_MS)
    }
  }
}
