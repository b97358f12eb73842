import type { Database } from '@backoffice/postgres/database.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ConsoleRequests } from '../../credentials/console/console-requests.ts'
import type { KeyFormat } from '../../credentials/keys/key-format.ts'
import type { OperatorAuthenticator } from '../../credentials/operators/operator-authenticator.ts'
import { isOfOtherSite } from '../../credentials/other-site.ts'
import { clientGone } from '../../public/proxy/pass-on.ts'
import type { AppsClient } from '../../public/upstreams/apps-client.ts'
import { forgedRequest } from '../document/refusals.ts'
import type { SignedIds } from '../links/signed-ids.ts'
import type { PageSession, PageSessions } from './page-sessions.ts'

export interface PagesOptions {
  readonly apps: AppsClient
  /** Writes inside one workspace. */
  readonly db: Database
  readonly ids: SignedIds
  readonly sessions: PageSessions
  /** The gateway's address, as browsers see it. */
  readonly publicUrl: URL
  /** For sessions of the console. */
  readonly format: KeyFormat
  readonly operators: Pick<OperatorAuthenticator, 'fingerprint'>
  readonly consoleRequests: ConsoleRequests
  readonly clock: () => Date
}

/** Asks apps about the installation of a session, in the merchant's name, until the browser leaves. */
export function askApps<Answer>(
  apps: AppsClient,
  reply: FastifyReply,
  { workspaceId, livemode, installationId }: PageSession,
  [method, act]: readonly ['GET', ''] | readonly ['POST', '/consent' | '/decline' | '/session'],
  answer: z.ZodType<Answer>,
  body?: unknown,
): Promise<Answer> {
  const { request } = reply
  request.logged = { ...request.logged, workspace_id: workspaceId }
  return apps.ask({
    who: 'merchant',
    actor: 'merchant',
    workspace: { id: workspaceId, livemode },
    requestId: request.id,
    traceparent: presentTraceparent(request.headers.traceparent),
    method,
    path: `/internal/installations/${installationId}${act}`,
    answer,
    body,
    signal: clientGone(reply),
  })
}

/** Refuses a POST that another site makes the browser send. Throws a refusal. */
export function refuseCrossSite({ headers }: FastifyRequest, publicUrl: URL): void {
  if (isOfOtherSite(headers, (origin) => origin === publicUrl.origin)) throw forgedRequest()
}
