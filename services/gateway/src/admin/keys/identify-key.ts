import { badRequest, notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { endOfConsole, endOfSession, operatorIsThere, READING } from '../../credentials/keys/find-keys.ts'
import { isWellFormedToken } from '../../credentials/operators/token-format.ts'
import { hashOf } from '../../credentials/secret-text.ts'
import { adminOperation } from '../admin-operation.ts'
import { Key } from './key.ts'

/** The text, also with the rest of the header that it was found in, and with spaces or line breaks around it. */
const PASTED = /^\s*(?:(?:authorization:\s*)?bearer\s+|x-api-key:\s*)?(\S+)\s*$/i

/** An API key, the token of a session of support or of the console, or that of an operator, which has no workspace. */
const IdentifiedKey = Key.extend({
  kind: z.enum([...Key.shape.kind.options, 'support', 'operator', 'console']),
  livemode: z.boolean().nullable(),
  workspace: z.strictObject({ id: Id, name: z.string() }).nullable(),
  /** IN_FORCE also while the workspace or the app is suspended: it may work again. */
  state: z.enum(['IN_FORCE', 'ENDED']),
  /** The request that ends it; null once it has ended. */
  end_with: z.string().nullable(),
})

/**
 * POST /admin/v1/keys/identify (OP-05, OP-86): whose key or token a text is, revoked and expired ones too. The text is
 * neither logged nor stored, and no message repeats it.
 */
export const identifyKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/keys/identify',
  summary: 'Tell whose API key or token a text is, and how to end it',
  body: z.strictObject({ key: z.string().max(1000) }),
  responses: { 200: IdentifiedKey },
  refusals: ['not_found'],

  async handle({ body, worker, format, operators: { fingerprint } }) {
    const text = PASTED.exec(body.key)?.[1] ?? ''
    if (text.startsWith('whsec_')) {
      const rotation = 'its workspace replaces it by POST /v1/webhooks/{id}/secret/rotate'
      throw badRequest(['key'], `is the secret of a webhook endpoint, which is stored encrypted; ${rotation}`)
    }
    if (format.verify(text) === 'malformed' && !isWellFormedToken(text)) {
      throw badRequest(
        ['key'],
        'is not the text of a key or token; send it whole: sk_live_…, ss_live_…, cs_live_…, op_…',
      )
    }
    const [row] = await worker`
      select credential.id, credential.name, kind, scopes, livemode, credential.created_at, expires_at, last_used_at, revoked_at,
        case when workspace.id is not null then
          json_build_object('id', workspace.id, 'name', workspace.name)
        end as workspace,
        state, case state when 'IN_FORCE' then 'DELETE /admin/v1/' || resource || '/' || credential.id end as end_with
      from (
        select key_hash as hash, id, name, kind, scopes, workspace_id, created_at, expires_at, last_used_at, revoked_at,
          'keys' as resource
        from api_key
        union all
        select token_hash, id, operator, 'support', ${READING}::text[], workspace_id, created_at, expires_at, null,
          ${endOfSession(worker, fingerprint)}, 'support-sessions'
        from support_session
        union all
        select token_hash, console_session.id, coalesce(api_key.name, operator, 'link'), 'console',
          coalesce(api_key.scopes, console_session.scopes, '{}'), console_session.workspace_id, console_session.created_at,
          least(${endOfConsole(worker)}, api_key.expires_at), console_session.last_used_at,
          case when operator is null or ${operatorIsThere(worker, fingerprint)} then revoked_at else console_session.created_at end,
          'console-sessions'
        from console_session left join api_key on api_key.id = api_key_id
        union all
        select token_hash, id, name, 'operator', '{}', null, created_at, null, last_used_at, revoked_at, 'operators'
        from operator_token
      ) as credential
      left join workspace on workspace.id = credential.workspace_id
      cross join lateral (
        select case
          when deleted_at is not null or least(expires_at, revoked_at) <= clock_timestamp() then 'ENDED' else 'IN_FORCE'
        end as state
      ) as judged
      where credential.hash = ${Buffer.from(hashOf(text), 'hex')}`
    if (row === undefined) throw notFound([], 'The platform has no such key or token, or has it no more')
    return ok(row)
  },
})
