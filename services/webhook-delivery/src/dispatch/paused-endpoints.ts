import type { Sql } from '@backoffice/postgres/database.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isPaused, type Target } from '../endpoints/targets.ts'
import { shardOf } from '../shards/shard-of.ts'

const unopened = gauge(
  'webhook_endpoints_unopened',
  'Endpoints that have deliveries to send and a signing secret that does not open',
)

/** How often they are looked at, in milliseconds. */
const LOOK_EVERY_MS = 1000

/** Whether nothing is sent to an endpoint for now: it is paused, or its secret does not open (OP-107). */
export const mustWait = (target: Target): boolean => isPaused(target) || target.signing === undefined

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

  /** Looks whether a second has passed since the last look. Returns and forgets those that are not paused any more. */
  async resumed(sql: Sql, directory: EndpointDirectory): Promise<string[]> {
    const now = performance.now()
    if (now < this.#lookAt) return []
    this.#lookAt = now + LOOK_EVERY_MS
    const workspaceIds = [...new Set(this.#workspaces.values())]
    const workspaces = workspaceIds.length > 0 ? await directory.of(sql, workspaceIds) : new Map()
    let closed = 0
    const resumed = [...this.#workspaces].flatMap(([id, workspaceId]) => {
      const target: Target | undefined = workspaces.get(workspaceId)?.get(id)
      if (target === undefined || !mustWait(target)) return id
      if (!isPaused(target)) closed++
      return []
    })
    for (const id of resumed) this.#workspaces.delete(id)
    unopened.record(closed)
    return resumed
  }
}
