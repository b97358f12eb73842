import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { invalidApiKey } from '../../credentials/bearer-token.ts'
import type { RateLimit } from '../rate-limit/token-bucket.ts'

const MyWorkspace = namedObject('MyWorkspace', { id: Id, name: z.string(), domain: z.string().nullable() })
const MyKey = namedObject('MyKey', {
  id: Id,
  name: z.string(),
  kind: z.enum(['workspace', 'app', 'support']),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
})
const MyLimits = namedObject('MyLimits', { requests_per_minute: z.int(), requests_at_once: z.int() })

/** What a key is, for whoever holds it (OP-271). */
const Me = namedObject(
  'Me',
  { workspace: MyWorkspace, key: MyKey, scopes: z.array(z.string()), livemode: z.boolean(), limits: MyLimits },
  {
    workspace: { id: '0198c7a0-0000-7000-8000-000000000071', name: 'Linen & Co', domain: 'linen.example' },
    key: {
      id: '0198c7a0-0000-7000-8000-000000000072',
      name: 'ERP',
      kind: 'workspace',
      created_at: '2026-03-01T12:00:00.000Z',
      expires_at: null,
    },
    scopes: ['product', 'sale::read'],
    livemode: true,
    limits: { requests_per_minute: 6000, requests_at_once: 200 },
  },
)

interface MyRow extends Omit<z.input<typeof MyKey>, 'id' | 'created_at' | 'expires_at'> {
  readonly workspace: z.output<typeof MyWorkspace>
  readonly livemode: boolean
  readonly created_at: Date
  readonly expires_at: Date | null
  /** The workspace's own limit; null for the deployment's. */
  readonly ownLimit: RateLimit | null
}

/** GET /v1/me (extension; OP-271): the key of the request, its workspace and its limits. One statement. */
export const getMe = (standard: RateLimit) =>
  operation({
    operationId: 'getMe',
    method: 'GET',
    path: '/v1/me',
    summary: 'Read what the API key is, and of which workspace',
    scope: 'none',
    responses: { 200: Me },
    openPoints: ['OP-04', 'OP-06', 'OP-271'],
    extension: true,

    handle: ({ context, inWorkspace }) =>
      inWorkspace(async (tx) => {
        const [row] = await tx<MyRow[]>`
          select json_build_object('id', workspace.id, 'name', workspace.name, 'domain', domain) as workspace,
            credential.name, kind, livemode, credential.created_at, expires_at,
            case when rate_limit_per_second is not null then
              json_build_object('perSecond', rate_limit_per_second, 'burst', rate_limit_burst)
            end as "ownLimit"
          from (
            select workspace_id, id, name, kind, created_at, expires_at from api_key
            union all
            select workspace_id, id, operator, 'support', created_at, expires_at from support_session
            union all
            select workspace_id, id, 'Console', 'workspace', created_at, expires_at from console_session
          ) as credential
          join workspace on workspace.id = credential.workspace_id
          left join settings on settings.workspace_id = credential.workspace_id
          where credential.workspace_id = ${context.workspaceId} and credential.id = ${context.keyId}`
        if (row === undefined) throw invalidApiKey('The workspace of the API key has been deleted')
        const { workspace, livemode, ownLimit, ...key } = row
        const { perSecond, burst } = ownLimit ?? standard
        const limits = { requests_per_minute: Math.round(perSecond * 60), requests_at_once: burst }
        return ok({ workspace, key: { id: context.keyId, ...key }, scopes: context.scopes, livemode, limits })
      }),
  })
