import { LRUCache } from 'lru-cache'
import type { AnySql } from './database.ts'

interface VersionedCacheDefinition<Row extends { readonly workspace_id: string }, Value> {
  /** Table `(workspace_id, version)`; a change of the rows calls `raiseVersion` in its transaction. */
  readonly versions: string
  /** Reads the rows of some workspaces. */
  read(sql: AnySql, workspaceIds: string[]): Promise<Row[]>
  /** Makes a workspace's value from its rows; `previous` is the value of an older version, if it is still kept. */
  build(rows: readonly Row[], previous: Value | undefined): Value
  /** The sizes of all values together stay below this; those used least recently go first. */
  readonly maxSize: number
  /** The size of a value, by its rows; 1 unless given. */
  sizeOf?(rows: readonly Row[]): number
}

/** Values by workspace, made from rows and kept in memory while the workspace's version stays the same. */
export class VersionedCache<Row extends { readonly workspace_id: string }, Value> {
  readonly #definition: VersionedCacheDefinition<Row, Value>
  readonly #kept: LRUCache<string, { version: number; value: Value }>

  constructor(definition: VersionedCacheDefinition<Row, Value>) {
    this.#definition = definition
    this.#kept = new LRUCache({ maxSize: definition.maxSize })
  }

  /**
   * The values of some workspaces, as committed when this is called; none without a version. Reads the versions with
   * one query, and the rows of changed workspaces only.
   */
  async of(sql: AnySql, workspaceIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const { versions, read, build, sizeOf = () => 1 } = this.#definition
    const current = new Map<string, Value>()
    const stale: { workspaceId: string; version: number }[] = []
    // Before the rows: rows that change in between are kept under the older version, and read again next time.
    const committed = await sql<typeof stale>`
      select workspace_id as "workspaceId", version from ${sql(versions)}
      where workspace_id = any(${[...new Set(workspaceIds)]}::uuid[])`
    for (const each of committed) {
      const known = this.#kept.get(each.workspaceId)
      if (known?.version === each.version) current.set(each.workspaceId, known.value)
      else stale.push(each)
    }
    if (stale.length === 0) return current
    const ids = stale.map(({ workspaceId }) => workspaceId)
    const byWorkspace = Map.groupBy(await read(sql, ids), (row) => row.workspace_id)
    for (const { workspaceId, version } of stale) {
      let entry = this.#kept.get(workspaceId)
      // Another call may have built this version meanwhile.
      if (entry?.version !== version) {
        const rows = byWorkspace.get(workspaceId) ?? []
        entry = { version, value: build(rows, entry?.value) }
        this.#kept.set(workspaceId, entry, { size: Math.max(1, sizeOf(rows)) })
      }
      current.set(workspaceId, entry.value)
    }
    return current
  }
}

/** Raises the version of workspaces in the transaction that changes rows, so that every process reads them again. */
export async function raiseVersion(sql: AnySql, table: string, ...workspaceIds: string[]): Promise<void> {
  await sql`
    insert into ${sql(table)} as known (workspace_id, version)
    select distinct id, 1 from unnest(${workspaceIds}::uuid[]) as id order by id
    on conflict (workspace_id) do update set version = known.version + 1`
}
