import { Id, Name } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { adminOperation } from '../admin/admin-operation.ts'
import { ownWorkspace } from '../workspaces/find-workspace.ts'
import { IssuedKey, issueKey, NewScopes } from './issue-key.ts'

/** POST /admin/v1/workspaces/{id}/keys (OP-05, OP-86): `sk_live_…` in a live workspace, `sk_test_…` in a sandbox. */
export const createKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/keys',
  summary: 'Create an API key',
  params: z.strictObject({ id: Id }),
  body: z.strictObject({ name: Name, scopes: NewScopes }),
  responses: { 201: IssuedKey },
  openPoints: ['OP-04', 'OP-05', 'OP-86'],

  handle({ params, body, now, act }) {
    const id = uuidv7()
    return act(params.id, [{ action: 'key.created', target: `keys/${id}` }], async (tx) => {
      const { livemode } = await ownWorkspace(tx)
      return created(await issueKey(tx, { id, livemode, ...body }, now))
    })
  },
})
