import type { AnySql } from '@backoffice/postgres/database.ts'
import { openSecret, type SealedSecret, type SecretKeys } from '../secrets/secret-box.ts'
import { secretOwner } from '../secrets/signing-secret.ts'
import type { Signing, SigningKey } from '../sending/signature.ts'

/** An endpoint as deliveries need it. */
export interface Target {
  readonly workspaceId: string
  readonly id: string
  readonly url: URL
  readonly signing: Signing
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

/**
 * `onUnknownKey` is told of a secret that none of the keys opens, which a process started later sealed with a key of its own.
 * It is to end this one, rather than let the workspace's events fail here.
 */
export function endpointDirectory(
  keys: SecretKeys,
  onUnknownKey: (error: Error) => void = () => undefined,
): EndpointDirectory {
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
      const read = targetsOf(await readRows(sql, stale), keys, onUnknownKey)
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

const readRows = (sql: AnySql, sets: EndpointSet[]) => sql<TargetRow[]>`
  select workspace_id, id, url, enabled_events, standard_signature, created_at, secret_key_id, sealed_secret, array(
    select json_build_object('keyId', secret_key_id, 'sealed', encode(sealed_secret, 'base64'), 'endsAt', ends_at)
    from previous_secret where workspace_id = endpoint.workspace_id and endpoint_id = endpoint.id
    order by ends_at desc, id desc
  ) as previous
  from endpoint where workspace_id = any(${sets.map(({ workspaceId }) => workspaceId)}::uuid[])`

function targetsOf(
  rows: readonly TargetRow[],
  keys: SecretKeys,
  onUnknownKey: (error: Error) => void,
): Map<string, Map<string, Target>> {
  const unknown = unknownOf(
    rows.flatMap((row) => [row.secret_key_id, ...row.previous.map(({ keyId }) => keyId)]),
    keys,
  )
  if (unknown !== undefined) onUnknownKey(unknown)
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
  standard_signature: boolean
  created_at: Date
  secret_key_id: string
  sealed_secret: Buffer
  /** Newest first: a rotation lets none before it end later. */
  previous: { keyId: string; sealed: string; endsAt: string }[]
}

const targetOf = (row: TargetRow, keys: SecretKeys): Target => ({
  workspaceId: row.workspace_id,
  id: row.id,
  url: new URL(row.url),
  signing: { keys: signingKeysOf(row, keys), isStandardToo: row.standard_signature },
  enabledEvents: new Set(row.enabled_events),
  createdAt: row.created_at,
})

function signingKeysOf(row: TargetRow, keys: SecretKeys): SigningKey[] {
  const open = (secret: SealedSecret) => openSecret(keys, secret, secretOwner(row.workspace_id, row.id))
  return [
    { key: open({ keyId: row.secret_key_id, sealed: row.sealed_secret }), endsAt: null },
    ...row.previous.map(({ keyId, sealed, endsAt }) => ({
      key: open({ keyId, sealed: Buffer.from(sealed, 'base64') }),
      endsAt: new Date(endsAt),
    })),
  ]
}

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
