import type { Sql } from '@backoffice/postgres/database.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isPaused, type Target } from '../endpoints/targets.ts'
import type { Signing } from '../secrets/signature.ts'
import { shardOf } from '../shards/shard-of.ts'

const unopened = gauge(
  'webhook_endpoints_unopened',
  'Endpoints that have deliveries to send and a signing secret that does not open',
)

/** How often they are looked at, in milliseconds. */
const LOOK_EVERY_MS = 1000

/** Whether anything is sent to an endpoint now: it is not paused, and its secret opens (OP-107). */
export const isActive = (target: Target): target is Target & { readonly signing: Signing } =>
  !isPaused(target) && target.signing !== undefined

/** The endpoints with due deliveries to which nothing may be sent. Their deliveries stay in the table. */
export class PausedEndpoints {
  /** By endpoint, its workspace. */
  readonly #workspaces = new Map<string, string>()
  #lookAt = 0

  has(endpointId: string): boolean {
    return this.#workspaces.has(endpointId)
  }

  add({ id, workspaceId }: Target): void {
    this.#workspaces.set(id, workspaceId)
  }

  /** Forgets those of shards that are not this process's any more. */
  drop(shards: ReadonlySet<number>): void {
    for (const id of this.#workspaces.keys()) if (shards.has(shardOf(id))) this.#workspaces.delete(id)
  }

  /**
   * Looks if a second has passed since the last look. Forgets those that are not paused any more, and calls
   * `onResumed` with each in the same step.
   */
  async look(sql: Sql, directory: EndpointDirectory, onResumed: (endpointId: string) => void): Promise<void> {
    const now = performance.now()
    if (now < this.#lookAt) return
    this.#lookAt = now + LOOK_EVERY_MS
    const workspaceIds = [...new Set(this.#workspaces.values())]
    const workspaces = workspaceIds.length > 0 ? await directory.of(sql, workspaceIds) : new Map()
    let closed = 0
    for (const [id, workspaceId] of this.#workspaces) {
      const target: Target | undefined = workspaces.get(workspaceId)?.get(id)
      if (target === undefined || isActive(target)) {
        this.#workspaces.delete(id)
        onResumed(id)
      } else if (!isPaused(target)) closed++
    }
    unopened.record(closed)
  }
}
