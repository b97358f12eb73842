import type { Reply } from '@backoffice/http/reply.ts'
import type { Route, RouteDeclaration, ValidRequest } from '@backoffice/http/route.ts'
import type { AnySql, Database, Sql, Transaction } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { z } from 'zod'
import type { OperatorAuthenticator } from '../credentials/operators/operator-authenticator.ts'

/** An act of an operator or a service: `action` in the past tense, `target` as a path under /admin/v1. Contains no secret. */
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

/** A request of an operator. */
interface OperatorRequest {
  /** The operator's name. */
  readonly operator: string
  readonly requestId: string
  readonly traceparent: string
}

/** The input of an admin operation's handler. */
interface AdminInput<Params, Query, Body> extends ValidRequest<Params, Query, Body> {
  readonly now: Date
  /** The operator's name. */
  readonly operator: string
  readonly requestId: string
  readonly traceparent: string
  /** Reads across workspaces. */
  readonly worker: Sql
  /** Runs `work` in one transaction inside a workspace and writes `acts` to the audit log in the same transaction. */
  act<Result>(workspaceId: string, acts: Act[], work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /** The same for acts that concern no single workspace: `work` has the rights of the worker role. */
  actOnPlatform<Result>(acts: Act[], work: (tx: AnySql) => Promise<Result>): Promise<Result>
}

/** Any operation of the admin API (architecture: Admin API). */
export type AnyAdminOperation = RouteDeclaration & { handle(input: AdminInput<never, never, never>): Promise<Reply> }

/** Declares an admin operation; the handler's input is typed by the schemas given. */
export const adminOperation = <Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  declaration: RouteDeclaration<Params, Query, Body> & {
    handle(input: AdminInput<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Reply>
  },
): AnyAdminOperation => declaration

export interface AdminDependencies {
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads across workspaces. */
  readonly worker: Database
  readonly operators: OperatorAuthenticator
  readonly clock: () => Date
}

/** Makes a route of an admin operation: the caller needs an operator's token (OP-86). */
export function adminRoute(
  declaration: AnyAdminOperation,
  { db, worker, operators, clock }: AdminDependencies,
): Route<OperatorRequest> {
  return {
    declaration,
    async authorize(request) {
      const { headers, id, ip } = request
      const operator = await operators.authenticate({ authorization: headers.authorization, address: ip }, clock())
      request.logged = { ...request.logged, operator }
      return { operator, requestId: id, traceparent: presentTraceparent(headers.traceparent) }
    },
    answer({ operator, requestId, traceparent }, valid) {
      const now = clock()
      const origin = { actor: operator, requestId, at: now }
      return declaration.handle({
        ...(valid as ValidRequest<never, never, never>),
        now,
        operator,
        requestId,
        traceparent,
        worker: worker.sql,
        act: (workspaceId, acts, work) =>
          db.inWorkspace({ workspaceId, livemode: true, traceparent }, async (tx) => {
            const result = await work(tx)
            await recordActs(tx, acts, origin)
            return result
          }),
        actOnPlatform: (acts, work) =>
          inTransaction(worker.sql, async (tx) => {
            const result = await work(tx)
            await insertActs(tx, null, acts, origin)
            return result
          }),
      })
    },
  }
}

interface Origin {
  readonly actor: string
  readonly requestId: string
  readonly at: Date
}

/** Writes acts to the audit log, in the transaction of what was done (OP-86). */
export const recordActs = (tx: Transaction, acts: readonly Act[], origin: Origin): Promise<void> =>
  insertActs(tx, tx.context.workspaceId, acts, origin)

/** Acts without a workspace are platform-wide. */
async function insertActs(
  tx: AnySql,
  workspaceId: string | null,
  acts: readonly Act[],
  { actor, requestId, at }: Origin,
): Promise<void> {
  const shared = { workspace_id: workspaceId, at, actor, request_id: requestId }
  await tx`insert into audit ${tx(acts.map(({ action, target }) => ({ ...shared, action, target })))}`
}
