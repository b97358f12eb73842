import { LRUCache } from 'lru-cache'
import type { AnySql } from './database.ts'

interface VersionedCacheDefinition<Row extends { readonly workspace_id: string }, Value> {
  /** Table `(workspace_id, version)`; a change of the rows calls `raiseVersion` in its transaction. */
  readonly versions: string
  /** Reads the rows of some workspaces. */
  read(sql: AnySql, workspaceIds: string[]): Promise<Row[]>
  /** Makes a workspace's value from its rows; `previous` is the value of an older version, if it is still kept. */
  build(rows: readonly Row[], previous: Value | undefined): Value | Promise<Value>
  /** The sizes of all values together stay below this; those used least recently go first. */
  readonly maxSize: number
  /** The size of a value, by its rows; 1 unless given. */
  sizeOf?(rows: readonly Row[]): number
}

/** What is kept of a workspace: version 0, without a value, where it had none. */
export interface Kept<Value> {
  readonly version: number
  readonly value: Value | undefined
  /** The version was current then at the earliest (`performance.now()`). */
  confirmedAt: number
}

/** Values by workspace, made from rows and kept in memory while the workspace's version stays the same. */
export class VersionedCache<Row extends { readonly workspace_id: string }, Value> {
  readonly #definition: VersionedCacheDefinition<Row, Value>
  readonly #kept: LRUCache<string, Kept<Value>>
  /** What is being built, by workspace. */
  readonly #building = new Map<string, Promise<unknown>>()

  constructor(definition: VersionedCacheDefinition<Row, Value>) {
    this.#definition = definition
    this.#kept = new LRUCache({ maxSize: definition.maxSize })
  }

  /**
   * The values of some workspaces, as committed when this is called, or at most `withinMs` before; none without a
   * version. Reads the versions with one query, and the rows of changed workspaces only.
   */
  async of(sql: AnySql, workspaceIds: readonly string[], withinMs = 0): Promise<ReadonlyMap<string, Value>> {
    const { versions, read } = this.#definition
    const ids = [...new Set(workspaceIds)]
    const askedAt = performance.now()
    const recent = withinMs > 0 ? this.kept(ids) : undefined
    const isRecent = ({ confirmedAt }: Kept<Value>) => confirmedAt > askedAt - withinMs
    if (recent && [...recent.values()].every(isRecent)) return valuesOf(recent)
    // Before the rows: rows that change in between are kept under the older version, and read again next time.
    const committed = await sql<{ id: string; version: number }[]>`
      select workspace_id as id, version from ${sql(versions)} where workspace_id = any(${ids}::uuid[])`
    const current = new Map<string, Kept<Value>>()
    const stale = new Map(ids.map((id) => [id, 0]))
    for (const { id, version } of committed) stale.set(id, version)
    const take = (id: string, version: number) => {
      const entry = this.#kept.get(id)
      if (entry?.version !== version) return false
      current.set(id, entry)
      return stale.delete(id)
    }
    for (const [id, version] of stale) take(id, version)
    const withRows = [...stale].flatMap(([id, version]) => (version === 0 ? [] : id))
    const rows = withRows.length === 0 ? [] : await read(sql, withRows)
    const byWorkspace = Map.groupBy(rows, (row) => row.workspace_id)
    for (const [id, version] of stale) {
      // Another call may have built this version meanwhile, or does so now.
      while (this.#building.has(id)) await this.#building.get(id)
      if (take(id, version)) continue
      const built = this.#keep(id, version, byWorkspace.get(id) ?? [])
      this.#building.set(
        id,
        built.catch(() => undefined).finally(() => this.#building.delete(id)),
      )
      current.set(id, await built)
    }
    this.confirm(current, askedAt)
    return valuesOf(current)
  }

  /** What is in memory of some workspaces, by id and however old; undefined unless all are there. */
  kept(workspaceIds: readonly string[]): ReadonlyMap<string, Readonly<Kept<Value>>> | undefined {
    const kept = new Map<string, Kept<Value>>()
    for (const id of workspaceIds) {
      const entry = this.#kept.get(id)
      if (entry === undefined) return undefined
      kept.set(id, entry)
    }
    return kept
  }

  /** These versions, as `kept` has returned them, were current at a time (`performance.now()`). */
  confirm(seen: ReadonlyMap<string, Pick<Kept<Value>, 'version'>>, at: number): void {
    for (const [id, { version }] of seen) {
      const entry = this.#kept.get(id)
      if (entry?.version === version) entry.confirmedAt = Math.max(entry.confirmedAt, at)
    }
  }

  async #keep(workspaceId: string, version: number, rows: readonly Row[]): Promise<Kept<Value>> {
    const { build, sizeOf = () => 1 } = this.#definition
    const value = version === 0 ? undefined : await build(rows, this.#kept.get(workspaceId)?.value)
    const entry = { version, value, confirmedAt: Number.NEGATIVE_INFINITY }
    this.#kept.set(workspaceId, entry, { size: version === 0 ? 1 : Math.max(1, sizeOf(rows)) })
    return entry
  }
}

/** The values by workspace, of those that have one. */
export function valuesOf<Value>(kept: ReadonlyMap<string, Readonly<Kept<Value>>>): ReadonlyMap<string, Value> {
  return new Map([...kept].flatMap(([id, { value }]) => (value === undefined ? [] : [[id, value]])))
}

/** Raises the version of workspaces in the transaction that changes rows, so that every process reads them again. */
export async function raiseVersion(sql: AnySql, table: string, ...workspaceIds: string[]): Promise<void> {
  await sql`
    insert into ${sql(table)} as known (workspace_id, version)
    select distinct id, 1 from unnest(${workspaceIds}::uuid[]) as id order by id
    on conflict (workspace_id) do update set version = known.version + 1`
}
