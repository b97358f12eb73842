import { conflict } from '@backoffice/contracts/errors.ts'
import { Name } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { BOOTSTRAP } from '../../credentials/operators/operator-authenticator.ts'
import { adminOperation } from '../admin-operation.ts'
import { IssuedToken, issueToken } from './issue-token.ts'

/** Not the name of the operator with ADMIN_TOKEN. */
const OperatorName = Name.refine(
  (name) => name.toLowerCase() !== BOOTSTRAP,
  `must not be ${BOOTSTRAP}: that operator has the token of the setting ADMIN_TOKEN`,
)

/**
 * POST /admin/v1/operators (OP-86): an operator with a token of its own. Throws `conflict` for a name that another
 * operator has or had: the audit log tells operators apart by their names.
 */
export const createOperator = adminOperation({
  method: 'POST',
  path: '/admin/v1/operators',
  body: z.strictObject({ name: OperatorName }),
  responses: { 201: IssuedToken },

  handle({ body: { name }, now, actOnPlatform }) {
    const id = uuidv7()
    return actOnPlatform([{ action: 'operator.created', target: `operators/${id}` }], async (tx) => {
      const issued = await issueToken(tx, { id, name, replaces: null }, now)
      if (issued === undefined) throw conflict(['name'], 'another operator has or had this name; choose another')
      return created(issued)
    })
  },
})
