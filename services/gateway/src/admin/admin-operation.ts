import { createHash, timingSafeEqual } from 'node:crypto'
import type { Reply } from '@backoffice/http/reply.ts'
import type { Route, RouteDeclaration, ValidRequest } from '@backoffice/http/route.ts'
import type { Database, Sql, Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { z } from 'zod'
import { type Act, recordActs } from '../audit/record-acts.ts'
import { bearerToken, invalidApiKey } from '../keys/presented-key.ts'

/** Who calls the admin API, and in which request. */
export interface Operator {
  readonly actor: string
  readonly requestId: string
  readonly traceparent: string
}

/** What an admin operation's handler is given. */
interface AdminInput<Params, Query, Body> extends ValidRequest<Params, Query, Body> {
  readonly now: Date
  /** Reads across workspaces. */
  readonly worker: Sql
  /** Does what `acts` say, in one transaction inside one workspace that also writes them to the audit log. */
  act<Result>(workspaceId: string, acts: Act[], work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

/** One operation of the admin API (architecture: Admin API). */
export interface AdminOperation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> extends RouteDeclaration<Params, Query, Body> {
  handle(input: AdminInput<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Reply>
}

/** Any admin operation, as the gateway takes them. */
export type AnyAdminOperation = RouteDeclaration & { handle(input: AdminInput<never, never, never>): Promise<Reply> }

/** Declares an admin operation; the handler's input is typed by the schemas given. */
export const adminOperation = <Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  declaration: AdminOperation<Params, Query, Body>,
): AnyAdminOperation => declaration

export interface AdminDependencies {
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads across workspaces. */
  readonly worker: Database
  readonly adminToken: string
  readonly clock: () => Date
}

/** Binds an admin operation to the gateway: the caller is the operator whose token it is (OP-86). */
export function adminRoute(
  declaration: AnyAdminOperation,
  { db, worker, adminToken, clock }: AdminDependencies,
): Route<Operator> {
  const isAdminToken = secretMatcher(adminToken)
  return {
    declaration,
    async authorize({ headers, id }) {
      const token = bearerToken(headers.authorization)
      if (token === undefined || !isAdminToken(token)) throw invalidApiKey('The admin API needs the operator token')
      return { actor: 'operator', requestId: id, traceparent: traceparentFrom(headers.traceparent) }
    },
    answer(operator, valid) {
      const now = clock()
      return declaration.handle({
        ...(valid as ValidRequest<never, never, never>),
        now,
        worker: worker.sql,
        act: (workspaceId, acts, work) =>
          db.inWorkspace({ workspaceId, livemode: true, traceparent: operator.traceparent }, async (tx) => {
            const result = await work(tx)
            await recordActs(tx, acts, operator, now)
            return result
          }),
      })
    },
  }
}

/** Compares with a secret in a time that tells nothing of it: digests are compared, so lengths do not matter either. */
function secretMatcher(secret: string): (given: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(secret)
  return (given) => timingSafeEqual(digest(given), expected)
}
