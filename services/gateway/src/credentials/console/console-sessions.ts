import type { AnySql } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { endOfConsole } from '../keys/find-keys.ts'
import type { KeyFormat } from '../keys/key-format.ts'
import { hashOf, newSecret } from '../secret-text.ts'

/** How long a session lasts at most. */
export const SESSION_SECONDS = 8 * 60 * 60
/** Sessions of a key, an operator, or the links of a workspace. One more ends the oldest. */
const MAX_SESSIONS = 50

/** Whose session it is: what a key may do, the scopes of a link, or an operator with a token, who has no workspace. */
type Holder =
  | { readonly workspaceId: string; readonly livemode: boolean; readonly apiKeyId: string }
  | {
      readonly id: string
      readonly workspaceId: string
      readonly livemode: boolean
      readonly scopes: readonly string[]
    }
  | { readonly operator: string; readonly operatorToken: string; readonly fingerprint: Buffer }

/**
 * Begins a session and returns the text of its cookie. One statement, which also deletes sessions that are over. A
 * session by a token that is being replaced ends with the overlap.
 */
export async function beginSession(sql: AnySql, format: KeyFormat, holder: Holder) {
  const { id, workspaceId, livemode, apiKeyId, scopes, operator, operatorToken, fingerprint } = {
    ...NOBODY,
    id: newId(),
    ...holder,
  }
  const [token] = format.textsOf(id, livemode, newSecret(), 'cs')
  const endOfToken =
    operatorToken === null
      ? null
      : // The lock lets a rotation at the same time end this session, or be seen.
        sql`(
          select revoked_at from operator_token where token_hash = ${Buffer.from(hashOf(operatorToken), 'hex')} for share
        )`
  await sql`
    with others as (
      select id, ${endOfConsole(sql)} <= clock_timestamp() as is_over,
        row_number() over (order by created_at desc) >= ${MAX_SESSIONS} as is_one_too_many
      from console_session
      where ${workspaceId === null ? sql`workspace_id is null` : sql`workspace_id = ${workspaceId}`}
        and api_key_id is not distinct from ${apiKeyId}::uuid and operator is not distinct from ${operator}::text
    ), ended as (
      delete from console_session where id in (
        select others.id from others where is_over or is_one_too_many
      )
    )
    insert into console_session
      (id, workspace_id, token_hash, api_key_id, scopes, operator, fingerprint, created_at, last_used_at, expires_at)
    values (
      ${id}, ${workspaceId}, ${Buffer.from(hashOf(token), 'hex')}, ${apiKeyId}, ${scopes as string[] | null}, ${operator},
      ${fingerprint}, now(), now(), least(now() + make_interval(secs => ${SESSION_SECONDS}), ${endOfToken})
    )`
  return { token }
}

const NOBODY = {
  workspaceId: null,
  livemode: true,
  apiKeyId: null,
  scopes: null,
  operator: null,
  operatorToken: null,
  fingerprint: null,
}

interface EndedSupport {
  readonly id: string
  readonly workspaceId: string
  readonly operator: string
}

/** Ends a session of any kind by the text of its cookie. Returns it if it was one of support. */
export const endSession = (worker: AnySql, text: string) => worker<EndedSupport[]>`
  with ended as (delete from console_session where token_hash = ${Buffer.from(hashOf(text), 'hex')})
  update support_session set ended_at = clock_timestamp()
  where token_hash = ${Buffer.from(hashOf(text), 'hex')} and ended_at is null
  returning id, workspace_id as "workspaceId", operator`

/** Ends the sessions of an operator whose token is replaced or deleted: whoever has the token may have begun them. */
export const endSessionsOfOperator = (worker: AnySql, operator: string) => worker`
  delete from console_session where workspace_id is null and operator = ${operator}`
