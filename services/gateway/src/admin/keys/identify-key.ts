import { badRequest, notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { hashOf } from '../../credentials/secret-text.ts'
import { adminOperation } from '../admin-operation.ts'
import { Key, keyColumns } from './key.ts'

/** The key, also with the rest of the header that it was found in, and with spaces or line breaks around it. */
const PASTED = /^\s*(?:(?:authorization:\s*)?bearer\s+|x-api-key:\s*)?(\S+)\s*$/i

const IdentifiedKey = Key.extend({ workspace: z.strictObject({ id: Id, name: z.string() }) })

/**
 * POST /admin/v1/keys/identify (OP-05, OP-86): whose key a text is, revoked and expired ones too. The text is neither
 * logged nor stored, and no message repeats it.
 */
export const identifyKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/keys/identify',
  summary: 'Tell whose API key a text is',
  body: z.strictObject({ key: z.string().max(1000) }),
  responses: { 200: IdentifiedKey },

  async handle({ body, worker, format }) {
    const key = PASTED.exec(body.key)?.[1]
    if (key === undefined || format.verify(key) === 'malformed') {
      throw badRequest(['key'], 'is not the text of an API key; send it whole: sk_live_… or sk_test_…')
    }
    const [row] = await worker`
      select ${keyColumns(worker)}, json_build_object('id', workspace.id, 'name', workspace.name) as workspace
      from api_key join workspace on workspace.id = workspace_id
      where key_hash = ${Buffer.from(hashOf(key), 'hex')}`
    if (row === undefined) throw notFound([], 'No workspace has this API key')
    return ok(row)
  },
})
