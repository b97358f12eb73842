import { createHash, timingSafeEqual } from 'node:crypto'
import type { Reply } from '@backoffice/http/reply.ts'
import type { Route, RouteDeclaration, ValidRequest } from '@backoffice/http/route.ts'
import type { Database, Sql, Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { z } from 'zod'
import { bearerToken, invalidApiKey } from '../authorization/bearer-token.ts'

/** An act of an operator or a service: `action` in the past tense, `target` as a path under /admin/v1. Contains no secret. */
export interface Act {
  readonly action:
    | 'workspace.created'
    | 'settings.updated'
    | 'key.created'
    | 'key.activated'
    | 'key.rotated'
    | 'key.revoked'
    | 'link.created'
    | 'session.created'
  readonly target: string
}

/** A request of an operator. */
interface OperatorRequest {
  readonly requestId: string
  readonly traceparent: string
}

/** The input of an admin operation's handler. */
interface AdminInput<Params, Query, Body> extends ValidRequest<Params, Query, Body> {
  readonly operator: string
  readonly requestId: string
  readonly traceparent: string
  readonly now: Date
  /** Reads across workspaces. */
  readonly worker: Sql
  /** Runs `work` in one transaction inside a workspace and writes `acts` to the audit log in the same transaction. */
  act<Result>(workspaceId: string, acts: Act[], work: (tx: Transaction) => Promise<Result>): Promise<Result>
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
  readonly adminToken: string
  readonly clock: () => Date
}

/** Makes a route of an admin operation: the caller needs the operator's token (OP-86). */
export function adminRoute(
  declaration: AnyAdminOperation,
  { db, worker, adminToken, clock }: AdminDependencies,
): Route<OperatorRequest> {
  const isAdminToken = secretMatcher(adminToken)
  return {
    declaration,
    async authorize({ headers, id }) {
      const token = bearerToken(headers.authorization)
      if (token === undefined || !isAdminToken(token)) throw invalidApiKey('The admin API needs the operator token')
      return { requestId: id, traceparent: traceparentFrom(headers.traceparent) }
    },
    answer({ requestId, traceparent }, valid) {
      const now = clock()
      return declaration.handle({
        ...(valid as ValidRequest<never, never, never>),
        now,
        operator: 'operator',
        requestId,
        traceparent,
        worker: worker.sql,
        act: (workspaceId, acts, work) =>
          db.inWorkspace({ workspaceId, livemode: true, traceparent }, async (tx) => {
            const result = await work(tx)
            await recordActs(tx, acts, { actor: 'operator', requestId, at: now })
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
export async function recordActs(
  tx: Transaction,
  acts: readonly Act[],
  { actor, requestId, at }: Origin,
): Promise<void> {
  const shared = { workspace_id: tx.context.workspaceId, at, actor, request_id: requestId }
  await tx`insert into audit ${tx(acts.map(({ action, target }) => ({ ...shared, action, target })))}`
}

/** Compares with a secret in constant time. It compares digests, so that the time does not depend on the lengths either. */
function secretMatcher(secret: string): (given: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(secret)
  return (given) => timingSafeEqual(digest(given), expected)
}
