import type { AnySql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { SecretKeys } from '../secrets/secret-box.ts'
import { openSigning, type SigningRow } from './open-signing.ts'
import { Targets } from './targets.ts'

/** Every workspace's endpoints, kept in memory with their secrets opened. */
export interface EndpointDirectory {
  /**
   * The endpoints of some workspaces, as committed when this is called: what is kept is used only while the workspace's
   * endpoints have not changed, which one small query tells. A workspace without endpoints is absent.
   */
  of(sql: AnySql, workspaceIds: readonly string[]): Promise<ReadonlyMap<string, Targets>>
}

export interface DirectoryListeners {
  /** Told once per change of a workspace's endpoints which secrets do not open. */
  readonly logger?: Pick<Logger, 'error'>
  /**
   * Told of a secret that none of the keys opens, which a process started later sealed with a key of its own. It is to end
   * this one: until then that endpoint's deliveries wait.
   */
  readonly onUnknownKey?: (error: Error) => void
}

const KEPT_WORKSPACES = 10_000

export function endpointDirectory(
  keys: SecretKeys,
  { logger, onUnknownKey }: DirectoryListeners = {},
): EndpointDirectory {
  const kept = new Map<string, Kept>()

  const keep = ({ workspaceId, version }: EndpointSet, rows: readonly EndpointRow[]): Targets => {
    const known = kept.get(workspaceId)
    if (known?.version === version) return known.targets
    const targets = targetsOf(rows, keys, logger)
    kept.set(workspaceId, { version, targets })
    return targets
  }

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
      const rows = await readRows(sql, stale)
      const unknown = unknownOf(rows.flatMap(keyIdsOf), keys)
      if (unknown !== undefined) onUnknownKey?.(unknown)
      if (kept.size > KEPT_WORKSPACES) kept.clear()
      const byWorkspace = Map.groupBy(rows, ({ workspace_id }) => workspace_id)
      for (const set of stale) current.set(set.workspaceId, keep(set, byWorkspace.get(set.workspaceId) ?? []))
      return current
    },
  }
}

interface EndpointSet {
  workspaceId: string
  version: number
}

interface Kept {
  readonly version: number
  readonly targets: Targets
}

/** Read before the endpoints: should they change in between, the version kept is the older one and is seen to be. */
const readVersions = (sql: AnySql, workspaceIds: string[]) => sql<EndpointSet[]>`
  select workspace_id as "workspaceId", version from endpoint_set where workspace_id = any(${workspaceIds}::uuid[])`

interface EndpointRow extends SigningRow {
  url: string
  enabled_events: string[]
  created_at: Date
}

const readRows = (sql: AnySql, sets: EndpointSet[]) => sql<EndpointRow[]>`
  select workspace_id, id, url, enabled_events, standard_signature, created_at, secret_key_id, sealed_secret, array(
    select json_build_object('keyId', secret_key_id, 'sealed', encode(sealed_secret, 'base64'), 'endsAt', ends_at)
    from previous_secret where workspace_id = endpoint.workspace_id and endpoint_id = endpoint.id
    order by ends_at desc, id desc
  ) as previous
  from endpoint where workspace_id = any(${sets.map(({ workspaceId }) => workspaceId)}::uuid[])`

/** One endpoint whose secret does not open, as one changed byte makes it, is no other endpoint's concern. */
function targetsOf(rows: readonly EndpointRow[], keys: SecretKeys, logger: DirectoryListeners['logger']): Targets {
  const targets = new Targets()
  for (const row of rows) {
    const { signing, failures } = openSigning(row, keys)
    const { workspace_id: workspaceId, id, url, created_at: createdAt, enabled_events: enabledEvents } = row
    targets.add({ workspaceId, id, url: new URL(url), signing, createdAt }, enabledEvents)
    const told = { workspace_id: workspaceId, endpoint_id: id, deliveries_wait: signing === undefined }
    for (const err of failures) logger?.error({ ...told, err }, 'a signing secret does not open')
  }
  return targets
}

const keyIdsOf = (row: EndpointRow): string[] => [row.secret_key_id, ...row.previous.map(({ keyId }) => keyId)]

/** Throws when a secret is sealed with a key this process was not given: it could not sign with it. */
export async function refuseUnknownKeys(sql: AnySql, keys: SecretKeys): Promise<void> {
  const used = await sql<{ secret_key_id: string }[]>`
    select secret_key_id from endpoint union select secret_key_id from previous_secret`
  const unknown = unknownOf(
    used.map((row) => row.secret_key_id),
    keys,
  )
  if (unknown !== undefined) throw unknown
}

function unknownOf(used: readonly string[], keys: SecretKeys): Error | undefined {
  const unknown = new Set(used.filter((id) => !keys.has(id)))
  if (unknown.size === 0) return undefined
  return new Error(`WEBHOOK_SECRET_KEYS lacks keys that endpoints use: ${[...unknown].join(', ')}`)
}
