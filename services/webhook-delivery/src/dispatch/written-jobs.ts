import { v4 as uuidv4 } from 'uuid'
import type { Job } from '../scheduling/job.ts'

/** Notifications come within moments of the commit; what was rolled back never comes. */
const KEPT_MS = 30_000

/**
 * First attempts that this process has written, until it hears of their commit. It hears of all commits in one order,
 * so that no event overtakes another that a different process has written.
 */
export class WrittenJobs {
  readonly #prefix = uuidv4()
  readonly #jobs = new Map<string, { readonly at: number; readonly byEndpoint: Map<string, Job[]> }>()
  /** The deliveries that nothing was heard of. */
  readonly #unheard = new Set<string>()
  #count = 0

  /** Keeps jobs, and returns the token that their notification carries. */
  keep(jobs: readonly Job[]): string {
    const token = `${this.#prefix}/${++this.#count}`
    const byEndpoint = Map.groupBy(jobs, ({ target }) => target.id)
    this.#jobs.set(token, { at: performance.now(), byEndpoint })
    for (const { deliveryId } of jobs) this.#unheard.add(deliveryId)
    return token
  }

  /** The jobs of an endpoint, once; undefined for what another process has written. */
  take(token: string | undefined, endpointId: string): readonly Job[] | undefined {
    const written = token === undefined ? undefined : this.#jobs.get(token)
    const jobs = written?.byEndpoint.get(endpointId)
    written?.byEndpoint.delete(endpointId)
    if (token !== undefined && written?.byEndpoint.size === 0) this.#jobs.delete(token)
    return jobs?.filter(({ deliveryId }) => this.#unheard.delete(deliveryId))
  }

  /** Leaves out a delivery that was read from the table: its commit was seen before it was heard of. */
  forget(deliveryId: string): void {
    this.#unheard.delete(deliveryId)
  }

  /** Forgets what was never committed. */
  expire(): void {
    const before = performance.now() - KEPT_MS
    for (const [token, { at, byEndpoint }] of this.#jobs) {
      if (at > before) return
      this.#jobs.delete(token)
      for (const jobs of byEndpoint.values()) for (const { deliveryId } of jobs) this.#unheard.delete(deliveryId)
    }
  }
}
