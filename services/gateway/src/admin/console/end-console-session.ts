import { notFound } from '@backoffice/contracts/errors.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { adminOperation } from '../admin-operation.ts'
import { endedSession } from '../support/support-session.ts'

/**
 * DELETE /admin/v1/console-sessions/{id} (OP-310): ends a session of the console, one of support too, everywhere within
 * 5 s, or withdraws the link that has not begun it yet.
 */
export const endConsoleSession = adminOperation({
  method: 'DELETE',
  path: '/admin/v1/console-sessions/{id}',
  summary: 'End a session of the console',
  responses: { 204: null },

  async handle({ params: { id }, worker, act, actOnPlatform }) {
    const unknown = () => notFound([], `Console session ${id} does not exist, or has ended`)
    const [session] = await worker<{ workspace_id: string | null; is_of_support: boolean }[]>`
      select workspace_id, false as is_of_support from console_session where id = ${id}
      union all
      select workspace_id, operator is not null from page_link where id = ${id} and page = 'console' and used_at is null
      union all select workspace_id, true from support_session where id = ${id} and ended_at is null`
    if (session === undefined) throw unknown()
    const acts = [
      session.is_of_support
        ? endedSession(id)
        : ({ action: 'session.ended', target: `console-sessions/${id}`, session_id: id } as const),
    ]
    const end = async (tx: AnySql) => {
      // Waits for a browser that opens the link at this moment; a statement after it sees the session.
      const withdrawn = await tx`
        update page_link set used_at = clock_timestamp()
        where id = ${id} and page = 'console' and used_at is null`
      const ended = await tx`
        with session as (
          delete from console_session where id = ${id} returning id
        ), of_support as (
          update support_session set ended_at = clock_timestamp() where id = ${id} and ended_at is null returning id
        )
        select from session union all select from of_support`
      if (withdrawn.count + ended.count === 0) throw unknown()
      return new Reply(204)
    }
    return session.workspace_id === null ? actOnPlatform(acts, end) : act(session.workspace_id, acts, end)
  },
})
