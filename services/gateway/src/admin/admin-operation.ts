import type { Reply } from '@backoffice/http/reply.ts'
import type { DefaultParams, Route, RouteDeclaration, ValidRequest } from '@backoffice/http/route.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { AnySql, Database, Sql, Transaction } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { z } from 'zod'
import type { KeyFormat } from '../credentials/keys/key-format.ts'
import type { OperatorAuthenticator } from '../credentials/operators/operator-authenticator.ts'
import type { PageLinks } from '../pages/links/page-links.ts'
import type { AppsClient, AppsRequest } from '../public/upstreams/apps-client.ts'
import type { Upstreams } from '../public/upstreams/upstream.ts'

/** An act of an operator or service: `action` in the past tense, `target` a path under /admin/v1. No secret. */
export interface Act {
  readonly action:
    | 'workspace.created'
    | 'workspace.suspended'
    | 'workspace.resumed'
    | 'workspace.deleted'
    | 'settings.updated'
    | 'key.created'
    | 'key.activated'
    | 'key.rotated'
    | 'key.revoked'
    | 'operator.created'
    | 'operator.rotated'
    | 'operator.deleted'
    | 'link.created'
    | 'session.created'
  readonly target: string
}

export interface AdminDependencies {
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads across workspaces. */
  readonly worker: Database
  readonly operators: OperatorAuthenticator
  readonly clock: () => Date
  readonly apps: AppsClient
  /** The text of API keys. */
  readonly format: KeyFormat
  readonly links: PageLinks
  readonly signer: TokenSigner
  readonly upstreams: Upstreams
}

interface AppsExtras {
  /** The whole platform unless given. */
  readonly workspace?: AppsRequest['workspace']
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly body?: unknown
}

interface AdminInput<Params, Query, Body>
  extends ValidRequest<Params, Query, Body>,
    Pick<AdminDependencies, 'db' | 'format' | 'links' | 'signer' | 'upstreams'> {
  readonly now: Date
  /** Reads across workspaces. */
  readonly worker: Sql
  /** Runs `work` in one transaction inside a workspace and writes `acts` to the audit log in the same transaction. */
  act<Result>(workspaceId: string, acts: readonly Act[], work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /** The same for acts that concern no single workspace: `work` has the rights of the worker role. */
  actOnPlatform<Result>(acts: readonly Act[], work: (tx: AnySql) => Promise<Result>): Promise<Result>
  /** Asks apps in the operator's name. Throws the refusal of apps, or `service_unavailable`. */
  askApps<Answer>(
    method: RouteDeclaration['method'],
    path: `/internal/${string}`,
    answer: z.ZodType<Answer> | null,
    extras?: AppsExtras,
  ): Promise<Answer>
}

/** Any operation of the admin API (architecture: Admin API). */
export type AnyAdminOperation = RouteDeclaration & { handle(input: AdminInput<never, never, never>): Promise<Reply> }

/** Declares an admin operation; the handler's input is typed by the path and the schemas. */
export const adminOperation = <
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Params extends z.ZodType = DefaultParams<Path>,
>(
  declaration: RouteDeclaration<Params, Query, Body> & {
    readonly path: Path
    handle(input: AdminInput<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Reply>
  },
): AnyAdminOperation => declaration

type OperatorRequest = Pick<AppsRequest, 'actor' | 'requestId' | 'traceparent'>

/** Makes a route of an admin operation: the caller needs an operator's token (OP-86). */
export function adminRoute(
  declaration: AnyAdminOperation,
  { db, worker, operators, clock, apps, ...dependencies }: AdminDependencies,
): Route<OperatorRequest> {
  return {
    declaration,
    async authorize(request) {
      const { headers, id, ip } = request
      const operator = await operators.authenticate(headers.authorization, ip, clock())
      request.logged = { ...request.logged, operator }
      return { actor: operator, requestId: id, traceparent: presentTraceparent(headers.traceparent) }
    },
    answer(request, valid) {
      const now = clock()
      const { traceparent } = request
      return declaration.handle({
        ...(valid as ValidRequest<never, never, never>),
        ...dependencies,
        now,
        db,
        worker: worker.sql,
        act: (workspaceId, acts, work) =>
          db.inWorkspace({ workspaceId, livemode: true, traceparent }, async (tx) => {
            const result = await work(tx)
            await recordActs(tx, workspaceId, acts, { ...request, at: now })
            return result
          }),
        actOnPlatform: (acts, work) =>
          inTransaction(worker.sql, async (tx) => {
            const result = await work(tx)
            await recordActs(tx, null, acts, { ...request, at: now })
            return result
          }),
        askApps: (method, path, answer, { workspace, query = {}, body } = {}) =>
          apps.send(
            { ...request, ...(workspace && { workspace }) },
            method,
            `${path}${queryText(query)}`,
            answer,
            body,
          ),
      })
    },
  }
}

/** `?page=2&limit=50` of a validated query; empty when nothing is given. */
function queryText(query: NonNullable<AppsExtras['query']>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? '' : `?${parameters}`
}

interface Origin {
  readonly actor: string
  readonly requestId: string
  readonly at: Date
}

/**
 * Writes acts to the audit log, in the transaction of what was done (OP-86). Acts without a workspace are
 * platform-wide.
 */
export async function recordActs(
  tx: AnySql,
  workspaceId: string | null,
  acts: readonly Act[],
  { actor, requestId, at }: Origin,
): Promise<void> {
  const shared = { workspace_id: workspaceId, at, actor, request_id: requestId }
  await tx`insert into audit ${tx(acts.map((act) => ({ ...shared, ...act })))}`
}
