import { Reply } from '@backoffice/http/reply.ts'
import { endSessionsOfOperator } from '../../credentials/console/console-sessions.ts'
import { adminOperation } from '../admin-operation.ts'
import { endSupportOf } from '../support/end-support-session.ts'
import { unknownOperator } from './rotate-operator.ts'

/**
 * DELETE /admin/v1/operators/{id} (OP-86): revokes a token, and those of the same operator that it replaced and whose
 * overlap lasts, and ends the sessions of this operator, of support and of the console; everywhere within 5 s. Deleting
 * it again is no error and keeps the time of the first deletion.
 */
export const deleteOperator = adminOperation({
  method: 'DELETE',
  path: '/admin/v1/operators/{id}',
  summary: 'Delete an operator',
  responses: { 204: null },

  handle({ params, actOnPlatform }) {
    return actOnPlatform([{ action: 'operator.deleted', target: `operators/${params.id}` }], async (tx) => {
      const [known] = await tx<{ name: string }[]>`select name from operator_token where id = ${params.id}`
      if (known === undefined) throw unknownOperator(params.id)
      await tx`
        with recursive ended as (
          select id, replaces from operator_token where id = ${params.id}
          union all
          select before.id, before.replaces from operator_token as before join ended on before.id = ended.replaces
        )
        update operator_token set revoked_at = clock_timestamp()
        where id in (select id from ended) and (revoked_at is null or revoked_at > clock_timestamp())`
      await endSupportOf(tx, known.name)
      await endSessionsOfOperator(tx, known.name)
      return new Reply(204)
    })
  },
})
