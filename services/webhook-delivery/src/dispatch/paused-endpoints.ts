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
  readonly #targets = new Map<string, Target>()
  #lookAt = 0

  constructor(sql: Sql, directory: EndpointDirectory) {
    this.#sql = sql
    this.#directory = directory
  }

  has(endpointId: string): boolean {
    return this.#targets.has(endpointId)
  }

  /** Whether its secret does not open: nobody has paused it, so its deliveries are overdue. */
  isUnopened(endpointId: string): boolean {
    const target = this.#targets.get(endpointId)
    return target !== undefined && !isPaused(target)
  }

  add(target: Target): void {
    this.#targets.set(target.id, target)
  }

  /** Forgets those of shards that are not this process's any more. */
  drop(shards: ReadonlySet<number>): void {
    for (const id of this.#targets.keys()) if (shards.has(shardOf(id))) this.#targets.delete(id)
  }

  /** Looks whether a second has passed since the last look. Returns and forgets those that are not paused any more. */
  async resumed(): Promise<string[]> {
    const now = performance.now()
    if (now < this.#lookAt) return []
    this.#lookAt = now + LOOK_EVERY_MS
    if (this.#targets.size === 0) return []
    const waiting = [...this.#targets.values()]
    const workspaces = await this.#directory.of(this.#sql, [...new Set(waiting.map(({ workspaceId }) => workspaceId))])
    const resumed: string[] = []
    for (const { id, workspaceId } of waiting) {
      if (!this.has(id)) continue
      const target = workspaces.get(workspaceId)?.get(id)
      if (target !== undefined && mustWait(target)) this.#targets.set(id, target)
      else {
        this.#targets.delete(id)
        resumed.push(id)
      }
    }
    return resumed
  }
}
