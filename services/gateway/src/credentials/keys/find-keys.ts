import { CART_PRICE_SECONDS } from '@backoffice/contracts/order.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { RESOURCES } from '@backoffice/contracts/scopes.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import type { RateLimit } from '../../public/rate-limit/token-bucket.ts'
import { BOOTSTRAP } from '../operators/operator-authenticator.ts'

/** A key with the permissions and the rate limit of its requests. */
export interface KnownKey {
  /** The caller that the services see. */
  readonly caller: Caller
  /** The session of the console that carries a key's rights, or its own; null for a key itself. */
  readonly consoleSession: string | null
  /** Whose session of support it is; null for a key. */
  readonly operator: string | null
  /** The workspace's own limit; null for the deployment's. */
  readonly rateLimit: RateLimit | null
  /** Null for an app's key that does not work yet. */
  readonly activatedAt: Date | null
  /** Milliseconds from its look-up until it is refused, by the database's clock; null when it never expires. */
  readonly expiresInMs: number | null
  /** The same; null when it is not revoked. */
  readonly revokedInMs: number | null
  /** Of the key's workspace: the key is refused meanwhile, or for good. */
  readonly isSuspended: boolean
  readonly isDeleted: boolean
  /** Of an app's key: the app is suspended. */
  readonly isAppSuspended: boolean
}

/** What a session of support may do: read. */
export const READING = RESOURCES.map((resource) => `${resource}::read`)

/** Any of these hashes, which are hex: for a column of bytes, by its index. */
export const anyOf = (sql: AnySql, hashes: readonly string[]) =>
  sql`any(array(select decode(hash, 'hex') from unnest(${hashes as string[]}::text[]) as hash))`

/** Whether a row of `bootstrap` is of this ADMIN_TOKEN; true of any other, and of one that has no fingerprint. */
export const isOfAdminToken = (sql: AnySql, fingerprint: Buffer) => sql`
  coalesce(operator <> ${BOOTSTRAP} or fingerprint = ${fingerprint}, true)`

/** Whether the operator of a row has a token in force. */
export const operatorIsThere = (sql: AnySql, fingerprint: Buffer) => sql`(
  ${isOfAdminToken(sql, fingerprint)} and (operator = ${BOOTSTRAP} or exists (
    select from operator_token
    where name = operator and (revoked_at is null or revoked_at > clock_timestamp())
  ))
)`

/**
 * When a row of `console_session` ends, unless its key or operator ends before: 8 h, or 30 min without a request. One
 * minute more, since uses are written once a minute.
 */
export const endOfConsole = (sql: AnySql) => sql`
  least(console_session.expires_at, console_session.last_used_at + interval '31 minutes')`

/** When a row of `support_session` ended; null while it lasts. It is over without its operator. */
export const endOfSession = (sql: AnySql, fingerprint: Buffer) => sql`
  case when ${operatorIsThere(sql, fingerprint)} then ended_at else created_at end`

/**
 * Looks keys, and tokens of sessions of support and of the console, up by their hashes, with the settings of their
 * workspaces. `worker` reads across workspaces. A session is over without its operator: one that is opened while the
 * operator is deleted, too.
 */
export async function findKeys(
  worker: Sql,
  fingerprint: Buffer,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, KnownKey>> {
  const rows = await worker<(KnownKey & { hash: string })[]>`
    select encode(credential.hash, 'hex') as hash, operator, console_session as "consoleSession",
      json_build_object(
        'keyId', credential.id, 'appKeyId', app_key_id, 'workspaceId', credential.workspace_id,
        'livemode', workspace.livemode, 'scopes', scopes,
        'productStatuses', coalesce(settings.product_statuses, ${[...PRODUCT_STATUSES]}),
        'cartPriceSeconds', coalesce(settings.cart_price_seconds, ${CART_PRICE_SECONDS})
      ) as caller,
      case when settings.rate_limit_per_second is not null then
        json_build_object('perSecond', settings.rate_limit_per_second, 'burst', settings.rate_limit_burst)
      end as "rateLimit",
      activated_at as "activatedAt",
      (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs",
      (extract(epoch from revoked_at - clock_timestamp()) * 1000)::float8 as "revokedInMs",
      workspace.suspended_at is not null and operator is null as "isSuspended", workspace.deleted_at is not null as "isDeleted",
      app_suspended_at is not null as "isAppSuspended"
    from (
      select key_hash as hash, id, app_key_id, workspace_id, scopes, activated_at, expires_at, revoked_at,
        app_suspended_at, null as operator, null::uuid as console_session
      from api_key
      union all
      select token_hash, id, null, workspace_id, ${READING}::text[], created_at, expires_at, ${endOfSession(worker, fingerprint)},
        null, operator, null
      from support_session
      union all
      select token_hash, coalesce(api_key_id, console_session.id), app_key_id, console_session.workspace_id,
        coalesce(api_key.scopes, console_session.scopes), coalesce(activated_at, console_session.created_at),
        least(${endOfConsole(worker)}, api_key.expires_at), revoked_at, app_suspended_at, null, console_session.id
      from console_session
      left join api_key on api_key.workspace_id = console_session.workspace_id and api_key.id = api_key_id
    ) as credential
    join workspace on workspace.id = credential.workspace_id
    left join settings on settings.workspace_id = credential.workspace_id
    where credential.hash = ${anyOf(worker, hashes)}`
  return new Map(rows.map(({ hash, ...key }) => [hash, key.operator === null ? key : ofSupport(key)]))
}

/** The services are told: what they record of it is not the merchant's. */
const ofSupport = ({ caller, ...key }: KnownKey): KnownKey => ({ ...key, caller: { ...caller, who: 'support' } })
