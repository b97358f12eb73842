import type { AnySql } from '@backoffice/postgres/database.ts'
import { openSecret, type SecretKeys } from '../secrets/secret-box.ts'
import { secretOwner } from '../secrets/signing-secret.ts'

/** An endpoint as deliveries need it. */
export interface Target {
  readonly workspaceId: string
  readonly id: string
  readonly url: URL
  readonly signingKey: Buffer
  readonly enabledEvents: ReadonlySet<string>
  readonly createdAt: Date
}

/** A workspace's endpoints by their id. */
export type Targets = ReadonlyMap<string, Target>

/** Every workspace's endpoints, kept in memory with their secrets opened. */
export interface EndpointDirectory {
  /**
   * The endpoints of some workspaces, as committed when this is called: what is kept is used only while the workspace's
   * endpoints have not changed, which one small query tells. A workspace without endpoints is absent.
   */
  of(sql: AnySql, workspaceIds: readonly string[]): Promise<ReadonlyMap<string, Targets>>
}

const KEPT_WORKSPACES = 10_000

export function endpointDirectory(keys: SecretKeys): EndpointDirectory {
  const kept = new Map<string, { version: number; targets: Targets }>()

  return {
    async of(sql, workspaceIds) {
      const current = new Map<string, Targets>()
      const stale: EndpointSet[] = []
      for (const set of await readVersions(sql, [...new Set(workspaceIds)])) {
        const known = kept.get(set.workspaceId)
        if (known?.version === set.version) current.set(set.workspaceId, known.targets)
        else stale.push(set)
      }
      if (stale.length === 0) return current
      const read = await readTargets(sql, keys, stale)
      if (kept.size > KEPT_WORKSPACES) kept.clear()
      for (const { workspaceId, version } of stale) {
        const targets = read.get(workspaceId) ?? new Map()
        current.set(workspaceId, targets)
        kept.set(workspaceId, { version, targets })
      }
      return current
    },
  }
}

interface EndpointSet {
  workspaceId: string
  version: number
}

/** Read before the endpoints: should they change in between, the version kept is the older one and is seen to be. */
const readVersions = (sql: AnySql, workspaceIds: string[]) => sql<EndpointSet[]>`
  select workspace_id as "workspaceId", version from endpoint_set where workspace_id = any(${workspaceIds}::uuid[])`

async function readTargets(
  sql: AnySql,
  keys: SecretKeys,
  sets: EndpointSet[],
): Promise<Map<string, Map<string, Target>>> {
  const rows = await sql<TargetRow[]>`
    select workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at
    from endpoint where workspace_id = any(${sets.map(({ workspaceId }) => workspaceId)}::uuid[])`
  const byWorkspace = Map.groupBy(rows, (row) => row.workspace_id)
  return new Map(
    [...byWorkspace].map(([workspaceId, own]) => [
      workspaceId,
      new Map(own.map((row) => [row.id, targetOf(row, keys)])),
    ]),
  )
}

interface TargetRow {
  workspace_id: string
  id: string
  url: string
  enabled_events: string[]
  secret_key_id: string
  sealed_secret: Buffer
  created_at: Date
}

const targetOf = (row: TargetRow, keys: SecretKeys): Target => ({
  workspaceId: row.workspace_id,
  id: row.id,
  url: new URL(row.url),
  signingKey: openSecret(
    keys,
    { keyId: row.secret_key_id, sealed: row.sealed_secret },
    secretOwner(row.workspace_id, row.id),
  ),
  enabledEvents: new Set(row.enabled_events),
  createdAt: row.created_at,
})

/** Throws when an endpoint's secret is sealed with a key this process was not given: it could sign nothing for it. */
export async function refuseUnknownKeys(sql: AnySql, keys: SecretKeys): Promise<void> {
  const used = await sql<{ secret_key_id: string }[]>`select distinct secret_key_id from endpoint`
  const unknown = used.map((row) => row.secret_key_id).filter((id) => !keys.has(id))
  if (unknown.length > 0) throw new Error(`WEBHOOK_SECRET_KEYS lacks keys that endpoints use: ${unknown.join(', ')}`)
}
