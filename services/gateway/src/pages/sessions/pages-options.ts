import type { Database } from '@backoffice/postgres/database.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyRequest } from 'fastify'
import type { AppsClient, AppsRequest } from '../../public/upstreams/apps-client.ts'
import type { SignedIds } from '../links/signed-ids.ts'
import type { PageSession, PageSessions } from './page-sessions.ts'

/** What the pages work with. */
export interface PagesOptions {
  readonly apps: AppsClient
  /** Writes inside one workspace. */
  readonly db: Database
  readonly ids: SignedIds
  readonly sessions: PageSessions
  /** The gateway's address, as browsers see it. */
  readonly publicUrl: URL
}

/** A request of the merchant to apps, in the workspace of the session. */
export function merchantRequest(request: FastifyRequest, { workspaceId, livemode }: PageSession): AppsRequest {
  request.logged = { ...request.logged, workspace_id: workspaceId }
  return {
    actor: 'merchant',
    workspace: { id: workspaceId, livemode },
    requestId: request.id,
    traceparent: presentTraceparent(request.headers.traceparent),
  }
}
