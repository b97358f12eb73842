import { conflict } from '@backoffice/contracts/errors.ts'
import { PlainName } from '@backoffice/contracts/reserved-names.ts'
import { created } from '@backoffice/http/reply.ts'
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
      if (issued === undefined)
        throw conflict(['name'], 'another operator has or had this name; choose another', 'name_taken')
      return created(issued)
    })
  },
})
