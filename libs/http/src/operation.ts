import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { refuseWithout, type Scope } from '@backoffice/contracts/scopes.ts'
import type { Database, Transaction, TransactionLimits, WholeTransaction } from '@backoffice/postgres/database.ts'
import {
  claimKey,
  findAnswer,
  fingerprintOf,
  type IdempotentRequest,
  type StoredAnswer,
  storeAnswer,
} from '@backoffice/postgres/idempotency.ts'
import { bytesOf, LargeRead } from '@backoffice/postgres/lists/sized-rows.ts'
import { READ_STATEMENT_MS } from '@backoffice/postgres/request-settings.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Deprecation, deprecationHeaders } from './deprecation.ts'
import { requireTag } from './entity-tag.ts'
import { INTERNAL_TOKEN_HEADER, type RequestContext, type TokenVerifier, type VerifiedToken } from './internal-token.ts'
import { LARGE_BYTES, type LargeAnswers } from './large-answers.ts'
import { PagedBody } from './paged-body.ts'
import { Reply } from './reply.ts'
import { type DefaultParams, NO_MEMBERS, type Route, type RouteDeclaration, type ValidRequest } from './route.ts'
import type { UploadDeclaration, UploadedFile } from './upload.ts'

/** Reads in a transaction of its own, ahead of the operation's one. What is large waits for its turn as well. */
export type ReadAhead = <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>

/** The input of a handler: the validated request, its caller, and a transaction in the caller's workspace. */
export interface OperationInput<Params, Query, Body, File> extends ValidRequest<Params, Query, Body, File> {
  readonly context: RequestContext
  /** The JSON body as it was sent; `body` has passed the schema, which may change values and the order of members. */
  readonly sentBody: unknown
  readonly now: Date
  /** The Idempotency-Key of a POST. Later changes must not refuse a repeated request (OP-08). */
  readonly idempotencyKey: string | undefined
  /**
   * Runs the operation's one transaction. A repeated POST with an Idempotency-Key gets the stored answer, without
   * `work` (OP-08). An upload must have been read to its end. A statement of a GET may take 5 s unless `limits` say
   * otherwise. What it reads by `readSized` may be large: then it is rolled back, waits for its turn and runs again
   * (OP-192).
   */
  inWorkspace(work: (tx: WholeTransaction) => Promise<Reply>, limits?: TransactionLimits): Promise<Reply>
  readonly readAhead: ReadAhead
  /** Gives back the turn of what was read ahead: before the handler waits for others, and answers little. */
  giveTurnBack(): void
  /**
   * The stored answer of a repeated request. For an operation that calls other services before its transaction: what
   * they answer now does not matter (OP-08).
   */
  storedAnswer(): Promise<Reply | undefined>
  /**
   * Of a request with `If-Match`: throws `precondition_failed` unless it names what GET would answer, the body of the
   * resource, which is locked (OP-266).
   */
  readonly requireMatch: ((body: unknown) => void) | undefined
  /** Waits for a turn where the request will take about so many bytes of memory, unless they are few (OP-192). */
  expectBytes(bytes: number): Promise<void>
}

/**
 * The scope that the caller's key needs, and what the OpenAPI document shows. An `internal` operation is for services
 * only: it needs a token that a service signed for a call of its own, and no scope. The gateway forwards nothing to its
 * path, `/internal/`. `none` is for every key. What is under `/console/` is for sessions of the console alone, by the
 * same scopes, and in no document (OP-309).
 */
export type Access =
  | {
      readonly path: string
      readonly scope: Scope | 'none'
      /** Unique in the whole API: generated clients call their methods by it. */
      readonly operationId: string
      readonly summary: string
      /** The events that it fires, at once or when what it starts has ended (docs/events.md). */
      readonly events?: readonly string[]
      /** The open points whose decisions the operation follows, shown as `x-open-point`. */
      readonly openPoints?: readonly string[]
      /** Set where the specification refers to the operation without describing it. */
      readonly extension?: boolean
      /** Set where it is going to end (OP-263). */
      readonly deprecated?: Deprecation
    }
  | { readonly path: `/internal/${string}`; readonly scope: 'internal' }

/** Whether an operation is for sessions of the console alone. */
export const isOfConsole = ({ path }: Access): boolean => path.startsWith('/console/')

/** One operation of the API: routing, validation, scope, OpenAPI entry and handler in one declaration. */
export type AnyOperation = RouteDeclaration &
  Access & {
    handle(input: OperationInput<never, never, never, never>): Promise<Reply>
  }

/** Declares an operation; the handler's input is typed by the path, the schemas, and by whether it takes a file. */
export const operation = <
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Params extends z.ZodType = DefaultParams<Path>,
  Upload extends UploadDeclaration | undefined = undefined,
>(
  declaration: RouteDeclaration<Params, Query, Body> &
    Access & {
      readonly path: Path
      readonly upload?: Upload
      handle(
        input: OperationInput<
          z.output<Params>,
          z.output<Query>,
          z.output<Body>,
          Upload extends UploadDeclaration ? UploadedFile : undefined
        >,
      ): Promise<Reply>
    },
): AnyOperation => declaration

interface Dependencies {
  readonly db: Database
  /** Whose request it is. */
  readonly authenticate: (request: FastifyRequest) => VerifiedToken | Promise<VerifiedToken>
  readonly clock: () => Date
  readonly largeAnswers: LargeAnswers
}

/** Authenticates requests by the token that the gateway, or a service, has sent with them. */
export const byToken =
  (verify: TokenVerifier, clock: () => Date): Dependencies['authenticate'] =>
  (request) =>
    verify(headerOf(request, INTERNAL_TOKEN_HEADER), clock())

const READ_LIMITS: TransactionLimits = { statementMs: READ_STATEMENT_MS }

/** Makes an operation's route: authenticates the caller and checks the operation's scope. */
export function operationRoute(declaration: AnyOperation, dependencies: Dependencies): Route<RequestContext> {
  const { db, authenticate, clock, largeAnswers } = dependencies
  // Services bound what they ask of each other themselves.
  const isInternal = declaration.scope === 'internal'
  return {
    declaration,
    async authorize(request, reply) {
      if (declaration.scope !== 'internal' && declaration.deprecated)
        reply.headers(deprecationHeaders(declaration.deprecated))
      const { caller, isService } = await authenticate(request)
      request.logged = { ...request.logged, workspace_id: caller.workspaceId, key_id: caller.keyId }
      if (declaration.scope === 'internal') {
        if (!isService) throw new ApiError('insufficient_scope', 'Only other services may call this operation')
      } else {
        if (isOfConsole(declaration) && !caller.console)
          throw new ApiError('insufficient_scope', 'Only the console may call this operation')
        if (declaration.scope !== 'none') refuseWithout(declaration.scope, caller.scopes)
      }
      return {
        ...caller,
        ...(!isInternal && { who: caller.who ?? 'merchant' }),
        actor: caller.keyId,
        requestId: request.id,
        traceparent: presentTraceparent(request.headers.traceparent),
      }
    },
    async answer(context, valid, request, response) {
      const key = declaration.method === 'POST' ? idempotencyKey(request) : undefined
      const isKept = key !== undefined && !declaration.onlyReads
      const identified = () => (isKept ? identify(key, request, valid) : undefined)
      const ifMatch = headerOf(request, 'if-match')
      const turn = largeAnswers.turnOf(context, response.raw)
      const readLimits = declaration.method === 'GET' ? READ_LIMITS : undefined
      let hasBegun = false
      const inTurn = <Result>(work: (tx: WholeTransaction) => Promise<Result>, limits?: TransactionLimits) => {
        const attempt = () => {
          const mostBytes = isInternal || turn.isHeld() ? undefined : LARGE_BYTES
          const begin = (tx: WholeTransaction) => {
            // A service that calls another leaves when it has waited for too long, and asks again if it needs to.
            if (isInternal && !hasBegun && response.raw.destroyed) throw callerLeft()
            hasBegun = true
            return work(tx)
          }
          return db.inWorkspace({ ...context, mostBytes }, begin, limits)
        }
        return attempt().catch(async (error: unknown) => {
          if (!(error instanceof LargeRead)) throw error
          await turn.take({ inMemory: error.bytes })
          return attempt()
        })
      }
      const reply = await declaration.handle({
        ...(valid as ValidRequest<never, never, never, never>),
        context,
        sentBody: request.body,
        now: clock(),
        idempotencyKey: key,
        async inWorkspace(work, limits = readLimits) {
          const keyed = identified()
          return inTurn((tx) => (keyed ? once(tx, keyed, work) : work(tx)), limits)
        },
        readAhead: (work) => inTurn(work, readLimits),
        giveTurnBack: turn.giveBack,
        requireMatch: ifMatch === undefined ? undefined : (body) => requireTag(ifMatch, body),
        async expectBytes(bytes) {
          if (bytes > LARGE_BYTES) await turn.take({ inMemory: bytes })
        },
        storedAnswer: async () => {
          const keyed = identified()
          const stored = keyed && (await db.inWorkspace(context, (tx) => findAnswer(tx, keyed)))
          return stored && replyOf(stored)
        },
      })
      if (!(reply.body instanceof PagedBody)) return reply
      const { pieceBytes, rows } = reply.body
      await turn.take({ inMemory: pieceBytes, bytes: bytesOf(rows) })
      return new Reply(
        reply.status,
        reply.body.readBy((work) => db.inWorkspace(context, work, readLimits)),
      )
    },
  }
}

async function once(tx: WholeTransaction, request: IdempotentRequest, work: (tx: WholeTransaction) => Promise<Reply>) {
  const stored = await claimKey(tx, request)
  if (stored !== undefined) return replyOf(stored)
  const reply = await work(tx)
  await storeAnswer(tx, request, reply, reply.resource)
  return reply
}

const callerLeft = () => new ApiError('service_unavailable', 'The service that called has left before its turn came')

const replyOf = ({ status, body }: StoredAnswer) => new Reply(status, body ?? undefined, undefined, true)

const KEY = /^[\x21-\x7e]{1,255}$/

/** The Idempotency-Key of a request. Throws `bad_request` for one that no request may have (OP-08). */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = headerOf(request, 'idempotency-key')
  if (key !== undefined && !KEY.test(key)) {
    throw badRequest(['Idempotency-Key'], 'must be 1 to 255 visible ASCII characters')
  }
  return key
}

/**
 * No body, `null` for none and `{}` are the same request (OP-09). For a request with a file, call it after the file has
 * been read.
 */
function identify(key: string, request: FastifyRequest, { file, body: members }: ValidRequest): IdempotentRequest {
  const of = (body: unknown) => fingerprintOf(request.method, request.url, body)
  if (file) return { key, fingerprint: of({ members, name: file.name, digest: file.digest() }) }
  const { body } = request
  if (body === undefined || body === null) return { key, fingerprint: of(undefined), orFingerprint: of({}) }
  const isEmpty = NO_MEMBERS.safeParse(body).success
  return { key, fingerprint: of(body), ...(isEmpty && { orFingerprint: of(undefined) }) }
}

/** The value of a header. Node joins those of a repeated one; only `set-cookie` has a list. */
const headerOf = ({ headers }: FastifyRequest, name: string) => headers[name] as string | undefined
