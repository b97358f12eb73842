import { notFound } from '@backoffice/contracts/errors.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { adminOperation } from '../admin-operation.ts'

/** DELETE /admin/v1/console-sessions/{id} (OP-309): ends a session of the console, everywhere within 5 s. */
export const endConsoleSession = adminOperation({
  method: 'DELETE',
  path: '/admin/v1/console-sessions/{id}',
  summary: 'End a session of the console',
  responses: { 204: null },

  handle({ params: { id }, actOnPlatform }) {
    return actOnPlatform(
      [{ action: 'session.ended', target: `console-sessions/${id}`, session_id: id }],
      async (tx) => {
        const { count } = await tx`delete from console_session where id = ${id}`
        if (count === 0) throw notFound([], `Console session ${id} does not exist, or has ended`)
        return new Reply(204)
      },
    )
  },
})
