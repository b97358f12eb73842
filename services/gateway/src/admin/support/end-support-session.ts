import { notFound } from '@backoffice/contracts/errors.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { adminOperation } from '../admin-operation.ts'
import { endedSession } from './support-session.ts'

/**
 * DELETE /admin/v1/support-sessions/{id} (OP-291): its token is refused, everywhere within 5 s. Ending it again is no
 * error and keeps the time of the first end.
 */
export const endSupportSession = adminOperation({
  method: 'DELETE',
  path: '/admin/v1/support-sessions/{id}',
  summary: 'End a session of support',
  responses: { 204: null },

  async handle({ params: { id }, worker, act }) {
    const [session] = await worker<{ workspace_id: string }[]>`
      select workspace_id from support_session where id = ${id}`
    if (session === undefined) throw notFound([], `Support session ${id} does not exist`)
    await act(session.workspace_id, [endedSession(id)], async (tx) => {
      await tx`
        update support_session set ended_at = clock_timestamp()
        where workspace_id = ${session.workspace_id} and id = ${id} and ended_at is null`
    })
    return new Reply(204)
  },
})

/**
 * Ends the sessions of an operator whose token is replaced or deleted, and the links to further ones: whoever has the
 * token may have made them.
 */
export const endSupportOf = (worker: AnySql, operator: string) => worker`
  with links as (
    update page_link set used_at = clock_timestamp() where operator = ${operator} and used_at is null
  )
  update support_session set ended_at = clock_timestamp()
  where operator = ${operator} and expires_at > clock_timestamp() and ended_at is null`
