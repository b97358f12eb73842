import type { ServiceName } from '@backoffice/contracts/services.ts'
import { idempotencyKey } from '@backoffice/http/operation.ts'
import type { Reply } from '@backoffice/http/reply.ts'
import type { DefaultParams, Route, RouteDeclaration, ValidRequest } from '@backoffice/http/route.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { AnySql, Database, Transaction } from '@backoffice/postgres/database.ts'
import { REQUEST_TRANSACTION_MS } from '@backoffice/postgres/request-settings.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ConsoleRequests } from '../credentials/console/console-requests.ts'
import type { OperatorSessions } from '../credentials/console/operator-sessions.ts'
import type { KeyFormat } from '../credentials/keys/key-format.ts'
import type { OperatorAuthenticator } from '../credentials/operators/operator-authenticator.ts'
import type { PageLinks } from '../pages/links/page-links.ts'
import type { RateLimit } from '../public/rate-limit/token-bucket.ts'
import type { AppsClient, AppsRequest } from '../public/upstreams/apps-client.ts'
import type { ServiceCalls, ServiceRequest } from '../public/upstreams/service-calls.ts'
import type { Upstreams } from '../public/upstreams/upstream.ts'

/**
 * An act of an operator or service: `action` in the past tense, `target` a path under /admin/v1, or what support sent:
 * `GET /v1/orders`. No secret.
 */
export interface Act {
  readonly action:
    | `workspace.${'created' | 'suspended' | 'resumed' | 'deleted' | 'reset'}`
    | `key.${'created' | 'activated' | 'rotated' | 'revoked'}`
    | `operator.${'created' | 'rotated' | 'deleted'}`
    | `${'link' | 'session'}.created`
    | 'session.ended'
    | 'settings.updated'
    | `support_session.${'created' | 'ended'}`
    | `support.${'read' | 'written'}`
    | 'dead_letter.read'
    | 'dead_letters.replayed'
    | 'outbox.resent'
    | 'check.started'
  readonly target: string
  /** Of a session of support. */
  readonly session_id?: string
  readonly reason?: string | null
}

export interface AdminDependencies {
  readonly consoleRequests: ConsoleRequests
  readonly operatorSessions: OperatorSessions
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads and writes across workspaces. */
  readonly worker: Database
  /** Lists across workspaces. */
  readonly lists: Database
  readonly operators: OperatorAuthenticator
  readonly clock: () => Date
  readonly apps: AppsClient
  readonly services: ServiceCalls
  /** The text of API keys. */
  readonly format: KeyFormat
  readonly links: PageLinks
  readonly signer: TokenSigner
  readonly upstreams: Upstreams
  /** The limit of the keys of workspaces without one of their own. */
  readonly standardLimit: RateLimit
}

/** With the wait for a connection a transaction takes 5 s longer. Statements of their own have no limit but this. */
const ANSWER_WITHIN_MS = REQUEST_TRANSACTION_MS + 5000

type OperatorRequest = Pick<AppsRequest<unknown>, 'who' | 'actor' | 'requestId' | 'traceparent'> & {
  /** The operator and the Idempotency-Key; null for a request without one (OP-301). */
  readonly requestKey: string | null
}

/** What a handler gets besides the request: what it needs to act in the operator's name. */
function adminInput(request: OperatorRequest, dependencies: AdminDependencies) {
  const { db, worker, lists, clock, operators, apps, services, format, links, signer, upstreams, standardLimit } =
    dependencies
  const now = clock()
  const origin = { ...request, at: now }
  return {
    now,
    actor: request.actor,
    requestKey: request.requestKey,
    db,
    operators,
    format,
    links,
    signer,
    upstreams,
    standardLimit,
    /** Reads across workspaces by ids: what ends a key or session must not wait for lists. */
    worker: worker.sql,
    /** Counts and lists across workspaces. */
    lists: lists.sql,
    /** Runs `work` in one transaction inside a workspace and writes `acts` to the audit log in the same transaction. */
    act: <Result>(workspaceId: string, acts: readonly Act[], work: (tx: Transaction) => Promise<Result>) =>
      db.inWorkspace({ workspaceId, livemode: true, traceparent: request.traceparent }, async (tx) => {
        const result = await work(tx)
        await recordActs(tx, workspaceId, acts, origin)
        return result
      }),
    /** The same for acts that concern no single workspace: `work` has the rights of the worker role. */
    actOnPlatform: <Result>(acts: readonly Act[], work: (tx: AnySql) => Promise<Result>) =>
      inTransaction(
        worker.sql,
        async (tx) => {
          const result = await work(tx)
          await recordActs(tx, null, acts, origin)
          return result
        },
        { endWithinMs: REQUEST_TRANSACTION_MS },
      ),
    /** Asks apps in the operator's name. Throws the refusal of apps, or `service_unavailable`. */
    askApps: <Answer>(asked: Omit<AppsRequest<Answer>, keyof OperatorRequest>) => apps.ask({ ...request, ...asked }),
    /** Asks a service about the platform. Throws its refusal, or `service_unavailable`. */
    askOne: <Answer>(service: ServiceName, asked: ServiceRequest<Answer>) => services.ask(service, asked, request),
    /** Asks several; those that do not answer are named. */
    askEach: <Answer extends object>(names: readonly ServiceName[], asked: ServiceRequest<Answer>) =>
      services.askEach(names, asked, request),
  }
}

type AdminInput<Params, Query, Body> = ValidRequest<Params, Query, Body> & ReturnType<typeof adminInput>

/** Any operation of the admin API (architecture: Admin API). */
export type AnyAdminOperation = RouteDeclaration & {
  /** For the document. */
  readonly summary: string
  /** Whether an Idempotency-Key names what it makes (OP-301). */
  readonly takesKey?: boolean
  handle(input: AdminInput<never, never, never>): Promise<Reply>
}

/** Declares an admin operation; the handler's input is typed by the path and the schemas. */
export const adminOperation = <
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Params extends z.ZodType = DefaultParams<Path>,
>(
  declaration: RouteDeclaration<Params, Query, Body> & {
    readonly path: Path
    readonly summary: string
    readonly takesKey?: boolean
    handle(input: AdminInput<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Reply>
  },
): AnyAdminOperation => declaration

/** Makes a route of an admin operation: the caller needs an operator's token (OP-86). */
export function adminRoute(declaration: AnyAdminOperation, dependencies: AdminDependencies): Route<OperatorRequest> {
  const { consoleRequests, operatorSessions, operators, clock } = dependencies
  async function operatorOf({ raw, ip }: FastifyRequest): Promise<string> {
    if (!consoleRequests.has(raw)) return operators.authenticate(raw.headers.authorization, ip, clock())
    const session = await operatorSessions.authenticate(consoleRequests.token(raw, 'operator'), ip, clock())
    return session.name
  }
  return {
    declaration,
    async authorize(request) {
      const { headers, id } = request
      const actor = await operatorOf(request)
      request.logged = { ...request.logged, operator: actor }
      const key = declaration.takesKey ? idempotencyKey(request) : undefined
      const requestKey = key === undefined ? null : `${actor} ${key}`
      return { who: 'operator', actor, requestKey, requestId: id, traceparent: presentTraceparent(headers.traceparent) }
    },
    answer(request, valid) {
      const input = { ...(valid as ValidRequest<never, never, never>), ...adminInput(request, dependencies) }
      return answerWithin(ANSWER_WITHIN_MS, declaration.handle(input))
    },
  }
}

/** The service apps, when it acts through the gateway by itself. */
export const APPS_ACTOR = { who: 'system', actor: 'apps' } as const

/**
 * Writes acts to the audit log, in the transaction of what was done (OP-86). Acts without a workspace are
 * platform-wide.
 */
export async function recordActs(
  tx: AnySql,
  workspaceId: string | null,
  acts: readonly Act[],
  { who, actor, requestId, at }: Pick<OperatorRequest, 'who' | 'actor' | 'requestId'> & { readonly at: Date },
): Promise<void> {
  const shared = { workspace_id: workspaceId, at, who, actor, request_id: requestId, session_id: null, reason: null }
  await tx`insert into audit ${tx(acts.map((act) => ({ ...shared, ...act })))}`
}
