import type { Database } from '@backoffice/postgres/database.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookiesOf } from '../../credentials/cookies.ts'
import { noSession } from '../document/refusals.ts'
import { type BegunSession, inWorkspaceOf, type PageName } from '../links/page-links.ts'
import type { Reference, SignedIds } from '../links/signed-ids.ts'

/** The session of a browser on one page of one installation. */
export interface PageSession extends Reference {
  readonly page: PageName
  readonly installationId: string
  readonly workspaceName: string
  readonly livemode: boolean
}

/**
 * Sessions of the pages. A cookie carries each: `<page>-<installation>`, so that one browser can have several pages
 * open. `isSecure` tells whether browsers reach the gateway over https.
 */
export function pageSessions(db: Database, ids: SignedIds, isSecure: boolean) {
  const nameOf = (page: PageName, installationId: string) => `${isSecure ? '__Secure-' : ''}${page}-${installationId}`
  const cookie = (name: string, value: string, seconds: number) =>
    `${name}=${value}; Max-Age=${seconds}; Path=/apps; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

  return {
    /** Sets the cookie of a session that has begun. */
    begin(reply: FastifyReply, workspaceId: string, { id, page, installationId, seconds }: BegunSession): void {
      const value = ids.sign('session', { workspaceId, id })
      reply.header('set-cookie', cookie(nameOf(page, installationId), value, seconds))
    },
    /** The session of the request's browser. Throws a refusal when it has none on this page of this installation. */
    async find({ headers }: FastifyRequest, page: PageName, installationId: string): Promise<PageSession> {
      const reference = ids.read('session', cookiesOf(headers, nameOf(page, installationId))[0])
      if (reference === undefined) throw noSession()
      const { workspaceId, id } = reference
      const [session] = await inWorkspaceOf(
        db,
        workspaceId,
        (tx) => tx<PageSession[]>`
          select
            session.workspace_id as "workspaceId", session.id, session.page,
            session.installation_id as "installationId", workspace.name as "workspaceName", workspace.livemode
          from page_session as session join workspace on workspace.id = session.workspace_id
          where session.workspace_id = ${workspaceId} and session.id = ${id} and session.page = ${page}
            and session.installation_id = ${installationId} and session.expires_at > clock_timestamp()
            and workspace.suspended_at is null and workspace.deleted_at is null`,
      )
      if (session === undefined) throw noSession()
      return session
    },
    /** Ends a session before its time. */
    async end(reply: FastifyReply, { workspaceId, id, page, installationId }: PageSession): Promise<void> {
      await inWorkspaceOf(
        db,
        workspaceId,
        (tx) => tx`delete from page_session where workspace_id = ${workspaceId} and id = ${id}`,
      )
      reply.header('set-cookie', cookie(nameOf(page, installationId), '', 0))
    },
  }
}
export type PageSessions = ReturnType<typeof pageSessions>
