import type { AnySql } from '@backoffice/postgres/database.ts'
import { VersionedCache } from '@backoffice/postgres/versioned-cache.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { openSecret, type SecretKeys } from '@backoffice/secrets/secret-box.ts'
import type { Signing, SigningKey } from '../secrets/signature.ts'
import { secretOwner } from '../secrets/signing-secret.ts'
import { type Target, Targets } from './targets.ts'

/** Every workspace's endpoints, with their secrets opened. A workspace that never had an endpoint is absent. */
export type EndpointDirectory = Pick<VersionedCache<never, Targets>, 'of'>
/** The same, with what is in memory of it. */
export type KeptEndpoints = Pick<VersionedCache<never, Targets>, 'of' | 'kept' | 'confirm'>

/** Endpoints and workspaces in memory, together. */
const MAX_SIZE = 50_000

/** In place of a URL that cannot be read. */
const NOWHERE = new URL('about:blank')

/** `logger` gets the secrets that do not open, once per change of a workspace's endpoints. */
export const endpointDirectory = (
  keys: SecretKeys,
  logger?: Pick<Logger, 'error'>,
  maxSize = MAX_SIZE,
): KeptEndpoints =>
  new VersionedCache({
    versions: 'endpoint_set',
    read: readEndpoints,
    build: (rows) => targetsOf(rows, keys, logger),
    maxSize,
    sizeOf: (rows) => 1 + rows.length,
  })

/** What was read within this time is an endpoint's present state, in milliseconds. */
const PRESENT_MS = 5

/** The committed state of an endpoint at the time of the call; undefined once the endpoint is deleted. */
export type CurrentTarget = (target: Target) => Promise<Target | undefined>

/**
 * Each attempt uses the URL and secrets of its moment (OP-63, OP-97). Calls during a query share the next one. A query
 * that fails is logged once, and fails them all.
 */
export function currentTargets(
  sql: AnySql,
  directory: EndpointDirectory,
  logger?: Pick<Logger, 'warn'>,
): CurrentTarget {
  let asking: Promise<unknown> = Promise.resolve()
  let next: { workspaceIds: string[]; answer: Promise<ReadonlyMap<string, Targets>> } | undefined

  const askNext = () => {
    const workspaceIds: string[] = []
    const answer = asking.then(() => {
      next = undefined
      return directory.of(sql, workspaceIds, PRESENT_MS)
    })
    asking = answer.catch((error) => logger?.warn({ err: error }, 'could not read endpoints: their attempts wait'))
    next = { workspaceIds, answer }
    return next
  }

  return async ({ workspaceId, id }) => {
    const { workspaceIds, answer } = next ?? askNext()
    workspaceIds.push(workspaceId)
    return (await answer).get(workspaceId)?.get(id)
  }
}

interface EndpointRow {
  workspace_id: string
  id: string
  url: string
  enabled_events: string[]
  created_at: Date
  paused_until: number
  requests_per_second: number | null
  standard_signature: boolean
  secret_key_id: string
  sealed_secret: Buffer
  /** Replaced secrets, newest first. A rotation never extends the time of an older one. */
  previous: { keyId: string; sealed: string; endsAt: string }[]
}

/** Until when deliveries to an `endpoint` waited: infinity while they do, null if they never did. */
export const pausedUntil = (sql: AnySql) => sql`greatest(
    (select timestamptz 'infinity' from deleted_workspace where workspace_id = endpoint.workspace_id),
    (select coalesce(resumed_at, 'infinity') from suspended_workspace where workspace_id = endpoint.workspace_id),
    (
      select coalesce(resumed_at, 'infinity') from app_key
      join app_installation on app_installation.workspace_id = app_key.workspace_id
        and app_installation.id = app_key.installation_id
      where app_key.workspace_id = endpoint.workspace_id and app_key.id = endpoint.made_by
        and suspension_changed_at is not null
    ),
    (
      select case state when 'DISABLED' then 'infinity' when 'ACTIVE' then since end from endpoint_health
      where workspace_id = endpoint.workspace_id and endpoint_id = endpoint.id
    )
  )`

const readEndpoints = (sql: AnySql, workspaceIds: string[]) => sql<EndpointRow[]>`
  select workspace_id, id, url, enabled_events, standard_signature, created_at, requests_per_second, secret_key_id,
    sealed_secret, array(
    select json_build_object('keyId', secret_key_id, 'sealed', encode(sealed_secret, 'base64'), 'endsAt', ends_at)
    from previous_secret where workspace_id = endpoint.workspace_id and endpoint_id = endpoint.id
    order by ends_at desc, id desc
  ) as previous,
  coalesce(extract(epoch from ${pausedUntil(sql)}) * 1000, 0)::float8 as paused_until
  from endpoint where workspace_id = any(${workspaceIds}::uuid[])`

/**
 * A secret that does not open (a changed byte, an unknown key) stops the deliveries of its endpoint only, and so does a
 * URL that this version of Node refuses.
 */
function targetsOf(rows: readonly EndpointRow[], keys: SecretKeys, logger: Pick<Logger, 'error'> | undefined): Targets {
  const targets = new Targets()
  for (const row of rows) {
    const { signing, failures } = openSigning(row, keys)
    const url = URL.parse(row.url)
    const target: Target = {
      workspaceId: row.workspace_id,
      id: row.id,
      url: url ?? NOWHERE,
      signing: url === null ? undefined : signing,
      createdAt: row.created_at,
      pausedUntil: row.paused_until,
      requestsPerSecond: row.requests_per_second ?? undefined,
    }
    targets.add(target, row.enabled_events)
    const ids = {
      workspace_id: target.workspaceId,
      endpoint_id: target.id,
      deliveries_wait: target.signing === undefined,
    }
    if (url === null) logger?.error(ids, 'the URL of an endpoint cannot be read')
    for (const err of failures) logger?.error({ ...ids, err }, 'a signing secret does not open')
  }
  return targets
}

/** Without the current secret there is no signing: no receiver has to accept a delivery without it (OP-107). */
function openSigning(row: EndpointRow, keys: SecretKeys): { signing: Signing | undefined; failures: unknown[] } {
  const failures: unknown[] = []
  const opened: SigningKey[] = sealedSecrets(row).flatMap(({ keyId, sealed, endsAt }) => {
    try {
      return [{ key: openSecret(keys, { keyId, sealed }, secretOwner(row.workspace_id, row.id)), endsAt }]
    } catch (error) {
      failures.push(error)
      return []
    }
  })
  const isCurrentOpen = opened[0]?.endsAt === null
  return { signing: isCurrentOpen ? { keys: opened, isStandardToo: row.standard_signature } : undefined, failures }
}

const sealedSecrets = (row: EndpointRow) => [
  { keyId: row.secret_key_id, sealed: row.sealed_secret, endsAt: null },
  ...row.previous.map(({ keyId, sealed, endsAt }) => ({
    keyId,
    sealed: Buffer.from(sealed, 'base64'),
    endsAt: new Date(endsAt),
  })),
]
