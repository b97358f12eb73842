import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { isGranted, type Scope } from '@backoffice/contracts/scopes.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { claimKey, fingerprintOf, type IdempotentRequest, storeAnswer } from '@backoffice/postgres/idempotency.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Caller, INTERNAL_TOKEN_HEADER, type RequestContext } from './internal-token.ts'
import { Reply } from './reply.ts'
import type { Route, RouteDeclaration, ValidRequest } from './route.ts'
import type { UploadDeclaration, UploadedFile } from './upload.ts'

/** What a handler is given: the validated request, who sent it, and a transaction in the sender's workspace. */
export interface OperationInput<Params, Query, Body, File> extends ValidRequest<Params, Query, Body, File> {
  readonly context: RequestContext
  readonly now: Date
  /**
   * Runs the operation's one transaction. For a POST with an Idempotency-Key the answer is stored in it, and a repeated
   * request is answered from the store without running `work` (OP-08). An upload is read to its end before.
   */
  inWorkspace(work: (tx: Transaction) => Promise<Reply>): Promise<Reply>
}

/**
 * What the caller's key must be granted. An `internal` operation is for other services only: its caller's token is as
 * signed, but which scope an act needs is known to the service that acts, so none is asked for. Such an operation stays under
 * `/internal/`, where the gateway sends nobody, and out of the OpenAPI document.
 */
type Access =
  | { readonly path: string; readonly scope: Scope }
  | { readonly path: `/internal/${string}`; readonly scope: 'internal' }

/** One operation of the API: routing, validation, scope, OpenAPI entry and handler in one declaration. */
export type Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Upload extends UploadDeclaration | undefined = UploadDeclaration | undefined,
> = RouteDeclaration<Params, Query, Body> &
  Access & {
    readonly upload?: Upload
    handle(
      input: OperationInput<
        z.output<Params>,
        z.output<Query>,
        z.output<Body>,
        Upload extends UploadDeclaration ? UploadedFile : undefined
      >,
    ): Promise<Reply>
  }

/** Any operation, as a server takes them. */
export type AnyOperation = RouteDeclaration &
  Access & {
    handle(input: OperationInput<never, never, never, never>): Promise<Reply>
  }

/** Declares an operation; the handler's input is typed by the schemas given, and by whether it takes a file. */
export const operation = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Upload extends UploadDeclaration | undefined = undefined,
>(
  declaration: Operation<Params, Query, Body, Upload>,
): AnyOperation => declaration

export interface OperationDependencies {
  readonly db: Database
  readonly verifyToken: (token: string | undefined, now: Date) => Promise<Caller>
  readonly clock: () => Date
}

/** Binds an operation to its service: the caller comes from the gateway's token and needs the operation's scope, if it has one. */
export function operationRoute(
  declaration: AnyOperation,
  { db, verifyToken, clock }: OperationDependencies,
): Route<RequestContext> {
  return {
    declaration,
    async authorize(request) {
      const token = headerOf(request, INTERNAL_TOKEN_HEADER)
      const caller = await verifyToken(token, clock())
      request.logged = { workspace_id: caller.workspaceId, key_id: caller.keyId }
      if (declaration.scope !== 'internal' && !isGranted(caller.scopes, declaration.scope)) {
        throw new ApiError('insufficient_scope', `API key lacks required scope: ${declaration.scope}`)
      }
      return {
        ...caller,
        actor: caller.keyId,
        requestId: request.id,
        token: token ?? '',
        traceparent: traceparentFrom(request.headers.traceparent),
      }
    },
    answer(context, valid, request) {
      const key = declaration.method === 'POST' ? idempotencyKey(request) : undefined
      return declaration.handle({
        ...(valid as ValidRequest<never, never, never, never>),
        context,
        now: clock(),
        inWorkspace: (work) => {
          if (key === undefined) return db.inWorkspace(context, work)
          const identified = { key, fingerprint: fingerprint(request, valid) }
          return db.inWorkspace(context, (tx) => once(tx, identified, work))
        },
      })
    },
  }
}

async function once(tx: Transaction, request: IdempotentRequest, work: (tx: Transaction) => Promise<Reply>) {
  const stored = await claimKey(tx, request)
  if (stored !== undefined) return new Reply(stored.status, stored.body ?? undefined)
  const reply = await work(tx)
  await storeAnswer(tx, request, reply, reply.resource)
  return reply
}

const KEY = /^[\x21-\x7e]{1,255}$/

function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = headerOf(request, 'idempotency-key')
  if (key !== undefined && !KEY.test(key)) {
    throw badRequest('Idempotency-Key: must be 1 to 255 visible ASCII characters')
  }
  return key
}

/** Of a request with a file, made when the operation has read it. */
function fingerprint({ method, url, body }: FastifyRequest, { file, body: members }: ValidRequest): string {
  return fingerprintOf(method, url, file ? { members, name: file.name, digest: file.digest() } : body)
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
