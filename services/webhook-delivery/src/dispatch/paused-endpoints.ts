import type { Sql } from '@backoffice/postgres/database.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isPaused, type Target } from '../endpoints/targets.ts'
import { shardOf } from '../shards/shard-of.ts'

/** How often they are looked at, in milliseconds. */
const LOOK_EVERY_MS = 1000

/** Whether nothing is sent to an endpoint for now: it is paused, or its secret does not open (OP-107). */
export const mustWait = (target: Target): boolean => isPaused(target) || target.signing === undefined

/** The endpoints with due deliveries to which nothing may be sent. Their deliveries stay in the table. */
export class PausedEndpoints {
  readonly #sql: Sql
  readonly #directory: EndpointDirectory
  /** By endpoint, its workspace. */
  readonly #workspaces = new Map<string, string>()
  #lookAt = 0

  constructor(sql: Sql, directory: EndpointDirectory) {
    this.#sql = sql
    this.#directory = directory
  }

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
  async resumed(): Promise<string[]> {
    const now = performance.now()
    if (now < this.#lookAt) return []
    this.#lookAt = now + LOOK_EVERY_MS
    if (this.#workspaces.size === 0) return []
    const workspaces = await this.#directory.of(this.#sql, [...new Set(this.#workspaces.values())])
    const resumed = [...this.#workspaces].flatMap(([id, workspaceId]) => {
      const target = workspaces.get(workspaceId)?.get(id)
      return target !== undefined && mustWait(target) ? [] : id
    })
    for (const id of resumed) this.#workspaces.delete(id)
    return resumed
  }
}
