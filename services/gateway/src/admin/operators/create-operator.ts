import { conflict } from '@backoffice/contracts/errors.ts'
import { PlainName } from '@backoffice/contracts/reserved-names.ts'
import { created } from '@backoffice/http/reply.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { IssuedToken, issueToken } from './issue-token.ts'

/**
 * POST /admin/v1/operators (OP-86): an operator with a token of its own. Throws `conflict` for a name that another
 * operator has or had: the audit log tells operators apart by their names.
 */
export const createOperator = adminOperation({
  method: 'POST',
  path: '/admin/v1/operators',
  summary: 'Create an operator with a token',
  body: z.strictObject({ name: PlainName }),
  responses: { 201: IssuedToken },

  handle({ body: { name }, now, actOnPlatform }) {
    const id = newId()
    return actOnPlatform([{ action: 'operator.created', target: `operators/${id}` }], async (tx) => {
      const issued = await issueToken(tx, { id, name, replaces: null }, now)
      if (issued === undefined) throw await nameTaken(tx, name)
      return created(issued)
    })
  },
})

async function nameTaken(sql: AnySql, name: string) {
  const [token] = await sql<{ id: string }[]>`
    select id from operator_token where lower(name) = lower(${name}) and revoked_at is null`
  const message =
    token === undefined
      ? 'belonged to an operator who is deleted; choose another name'
      : `belongs to an operator; if the token of this one was lost, rotate ${token.id}, else choose another name`
  return conflict(['name'], message, 'name_taken')
}
