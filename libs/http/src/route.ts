import { ApiError, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { UPLOAD_IDLE_MS, uploadWithinMs } from './body-deadline.ts'
import { entityTag, namesTag, refuseCondition } from './entity-tag.ts'
import { notePath, refuseOtherMethod } from './other-methods.ts'
import { PagedBody } from './paged-body.ts'
import type { Reply } from './reply.ts'
import { Streamed, StreamedBody, sendStream } from './streamed.ts'
import {
  dropRest,
  receiveForm,
  refuseOtherThanForm,
  type UploadDeclaration,
  type UploadedFile,
  uploadBytes,
} from './upload.ts'

/** The declaration of an operation, for routing and validation. */
export interface RouteDeclaration<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As in the specification: `/v1/products/{id}`. */
  readonly path: string
  /** The parameters of the path, unless there are none but `{id}`. */
  readonly params?: Params
  readonly query?: Query
  /** JSON; with `upload`, the text members of the form. */
  readonly body?: Body
  readonly upload?: UploadDeclaration | undefined
  /** Successful answers by status; null is an answer without a body. */
  readonly responses: Readonly<Record<number, z.ZodType | Streamed | null>>
  /** Whether it changes a resource only if it is as `If-Match` says (OP-266): it calls `requireMatch`. */
  readonly takesIfMatch?: true
  /** Set for a POST that only reads: an Idempotency-Key keeps no answer, a repeated request reads again (OP-08). */
  readonly onlyReads?: true
  /** The codes of its refusals, beyond those that follow from the rest of the declaration (`errorsOf`). */
  readonly refusals?: readonly ErrorCode[]
}

const ID_PARAMS = z.strictObject({ id: Id })

/** The schema of a path's parameters where a declaration gives none. */
export type DefaultParams<Path> = z.ZodType<Path extends `${string}{id}${string}` ? { id: string } : unknown>

/** The schema of the path's parameters, if it has any. */
export const paramsOf = ({ path, params }: RouteDeclaration): z.ZodType | undefined =>
  params ?? (path.includes('{id}') ? ID_PARAMS : undefined)

/** The validated parts of a request; the file of an upload is still to be read. */
export interface ValidRequest<Params = unknown, Query = unknown, Body = unknown, File = UploadedFile | undefined> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly file: File
}

/** A declaration and its implementation. `authorize` is called before the body is read. */
export interface Route<Caller> {
  readonly declaration: RouteDeclaration
  authorize(request: FastifyRequest, reply: FastifyReply): Promise<Caller>
  answer(caller: Caller, valid: ValidRequest, request: FastifyRequest, response: FastifyReply): Promise<Reply>
}

/** Whether its answer is a single resource, which has an entity tag (OP-266). */
export const hasTag = ({ method, path, takesIfMatch }: RouteDeclaration): boolean =>
  takesIfMatch ?? (method === 'GET' && path.endsWith('}'))

/** The schema of a request's part that has no members. */
export const NO_MEMBERS = z.strictObject({})
const NO_BODY = z.undefined('this operation takes no body')

/** Adds routes to an app. With `checkResponses`, for tests, an answer that differs from its declaration fails. */
export function addRoutes<Caller>(
  app: FastifyInstance,
  routes: readonly Route<Caller>[],
  checkResponses = false,
): void {
  const methodsByUrl = new Map<string, string[]>()
  for (const route of routes) {
    const { method, path, upload } = route.declaration
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), method])
    const callers = new WeakMap<FastifyRequest, Caller>()
    app.route({
      method,
      url,
      config: upload ? uploadConfig(upload) : {},
      onRequest: async (request, reply) => {
        refuseOtherMethod(request)
        callers.set(request, await route.authorize(request, reply))
        if (!route.declaration.takesIfMatch) refuseCondition(request.headers)
        if (upload) refuseOtherThanForm(request.headers['content-type'])
      },
      handler: async (request, response) => {
        const caller = callers.get(request) as Caller
        const answer = () =>
          withFile(route.declaration, request, (valid) => route.answer(caller, valid, request, response))
        const reply = await (checkResponses ? checked(route.declaration, answer) : answer())
        response.code(reply.status)
        if (reply.isReplayed) response.header('idempotent-replayed', 'true')
        if (reply.body === undefined) return response.send()
        if (reply.body instanceof PagedBody) return sendStream(request, response, reply.body.streamed())
        if (reply.body instanceof StreamedBody) return sendStream(request, response, reply.body)
        const json = JSON.stringify(reply.body)
        if (hasTag(route.declaration) && isUnchanged(request, response, entityTag(json)))
          return response.code(304).send()
        return response.type('application/json; charset=utf-8').send(json)
      },
    })
  }
  for (const [url, allowed] of methodsByUrl) notePath(app, url, allowed)
}

/** Adds the tag to the answer. Returns whether the client has that answer. */
function isUnchanged(request: FastifyRequest, response: FastifyReply, tag: string): boolean {
  response.header('etag', tag)
  const known = request.headers['if-none-match']
  return known !== undefined && ['GET', 'HEAD'].includes(request.method) && namesTag(known, tag)
}

const uploadConfig = ({ maxBytes }: UploadDeclaration) => ({
  takesFile: true,
  bodyWithinMs: uploadWithinMs(uploadBytes(maxBytes)),
  // The gateway should be the first to end an upload that stands still.
  bodyIdleMs: 2 * UPLOAD_IDLE_MS,
})

/** Validates the request and answers it. A form is read up to its file before; its rest is dropped afterwards. */
async function withFile(
  declaration: RouteDeclaration,
  request: FastifyRequest,
  answer: (valid: ValidRequest) => Promise<Reply>,
): Promise<Reply> {
  const { query, body, upload } = declaration
  refuseUnstorable(request.params)
  refuseUnstorable(request.query)
  const valid = {
    params: validate(paramsOf(declaration) ?? NO_MEMBERS, request.params, 'path'),
    query: validate(query ?? NO_MEMBERS, request.query, 'query'),
  }
  if (!upload) {
    return answer({
      ...valid,
      body: validate(body ?? NO_BODY, bodyFor(declaration, request.body), 'body'),
      file: undefined,
    })
  }
  try {
    const { members, file } = await receiveForm(request.raw, upload)
    refuseUnstorable({ ...members, [upload.member]: file.name })
    return await answer({ ...valid, body: validate(body ?? NO_MEMBERS, members, 'body'), file })
  } finally {
    dropRest(request.raw)
  }
}

/**
 * The body to validate (OP-09). An operation without a schema takes `{}` for none. Another one takes none for `{}`, if
 * its schema accepts that. Clients of Go send `null` for none, which an update refuses: it would change nothing.
 */
function bodyFor({ method, body }: RouteDeclaration, sent: unknown): unknown {
  if (body === undefined) return NO_MEMBERS.safeParse(sent).success ? undefined : sent
  const isNone = sent === undefined || (sent === null && method === 'POST')
  return isNone && body.safeParse({}).success ? {} : sent
}

/** Every error code that an operation can answer with (OP-02), by its declaration. */
export function errorsOf(declaration: RouteDeclaration): ReadonlySet<ErrorCode> {
  const { method, query, body, upload, refusals = [] } = declaration
  const codes = new Set<ErrorCode>([...ERRORS_OF_ALL, ...refusals])
  if (paramsOf(declaration)) codes.add('not_found')
  if (declaration.takesIfMatch) codes.add('precondition_failed')
  // The item that a page is to follow may not be there.
  if (query instanceof z.ZodObject && 'page' in query.shape && 'after' in query.shape) codes.add('unprocessable')
  if (body ?? upload) codes.add('payload_too_large').add('unsupported_media_type').add('unprocessable')
  // A value may clash with others, and a POST may repeat an Idempotency-Key (OP-08).
  if (method === 'PUT' || method === 'POST') codes.add('conflict')
  return codes
}

const ERRORS_OF_ALL: readonly ErrorCode[] = [
  'bad_request',
  'invalid_api_key',
  'insufficient_scope',
  'rate_limited',
  'internal_error',
  'service_unavailable',
  'gateway_timeout',
]

async function checked(declaration: RouteDeclaration, answer: () => Promise<Reply>): Promise<Reply> {
  try {
    const reply = await answer()
    checkResponse(declaration, reply)
    return reply
  } catch (error) {
    // The documents show no others.
    const isShown = /^\/(admin\/)?v1\//.test(declaration.path)
    if (!isShown || !(error instanceof ApiError) || errorsOf(declaration).has(error.code)) throw error
    throw new Error(`${declaration.method} ${declaration.path} does not declare ${error.code}`, { cause: error })
  }
}

function checkResponse({ method, path, responses }: RouteDeclaration, reply: Reply): void {
  const { status, body } = reply
  const declared = responses[status]
  if (declared === undefined) throw new Error(`${method} ${path} does not declare status ${status}`)
  const mediaType = declared instanceof Streamed ? declared.mediaType : undefined
  const sent = body instanceof StreamedBody ? body.mediaType : undefined
  if (mediaType !== sent)
    throw new Error(`${method} ${path} declares ${mediaType ?? 'no stream'}, not ${sent ?? 'JSON'}`)
  if (declared === null) z.undefined().parse(body)
  else if (!(declared instanceof Streamed)) {
    declared.parse(JSON.parse(JSON.stringify(body instanceof PagedBody ? body.view : body)))
  }
}
