import { ApiError } from '@backoffice/contracts/errors.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { refuseUnstorable } from './json-body.ts'
import type { Reply } from './reply.ts'
import { validate } from './validation.ts'

/** The declared side of an operation: what routing, validation and the OpenAPI document need. */
export interface RouteDeclaration<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As in the specification: `/v1/products/{id}`. */
  readonly path: string
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Successful answers by status; null is an answer without a body. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>
  /** Decisions the operation rests on, shown as `x-open-point`. */
  readonly openPoints?: readonly string[]
  /** Set where the specification refers to the operation without describing it. */
  readonly extension?: boolean
}

/** The validated parts of a request. */
export interface ValidRequest<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
}

/** A declaration with its way of answering: who may call is decided by `authorize`, before the body is read. */
export interface Route<Caller> {
  readonly declaration: RouteDeclaration
  authorize(request: FastifyRequest): Promise<Caller>
  answer(caller: Caller, valid: ValidRequest, request: FastifyRequest): Promise<Reply>
}

const NO_MEMBERS = z.strictObject({})
const NO_BODY = z.undefined('this operation takes no body')

/**
 * Adds routes to an app. Other methods on the same paths answer 405 with `Allow`. With `checkResponses`, an answer that
 * is not exactly what its declaration says fails: tests run so.
 */
export function addRoutes<Caller>(
  app: FastifyInstance,
  routes: readonly Route<Caller>[],
  { checkResponses = false }: { checkResponses?: boolean } = {},
): void {
  const methodsByUrl = new Map<string, string[]>()
  for (const route of routes) {
    const { method, path } = route.declaration
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), method])
    const callers = new WeakMap<FastifyRequest, Caller>()
    app.route({
      method,
      url,
      onRequest: async (request) => {
        callers.set(request, await route.authorize(request))
      },
      handler: async (request, response) => {
        const caller = callers.get(request) as Caller
        const reply = await route.answer(caller, validRequest(route.declaration, request), request)
        if (checkResponses) checkResponse(route.declaration, reply)
        response.code(reply.status)
        if (reply.body === undefined) return response.send()
        return response.type('application/json; charset=utf-8').send(JSON.stringify(reply.body))
      },
    })
  }
  for (const [url, allowed] of methodsByUrl) refuseOtherMethods(app, url, allowed)
}

function validRequest({ params, query, body }: RouteDeclaration, request: FastifyRequest): ValidRequest {
  refuseUnstorable(request.params)
  refuseUnstorable(request.query)
  return {
    params: validate(params ?? NO_MEMBERS, request.params, 'path'),
    query: validate(query ?? NO_MEMBERS, request.query, 'query'),
    body: validate(body ?? NO_BODY, request.body, 'body'),
  }
}

function refuseOtherMethods(app: FastifyInstance, url: string, allowed: string[]): void {
  const isAnswered = (method: string) => allowed.includes(method) || (method === 'HEAD' && allowed.includes('GET'))
  app.route({
    method: app.supportedMethods.filter((method) => !isAnswered(method)),
    url,
    // Answered before the body is read: what it holds does not matter.
    onRequest: async (request) => {
      const allow = allowed.join(', ')
      throw new ApiError('method_not_allowed', `${request.method} is not allowed here; allowed: ${allow}`, {
        headers: { allow },
      })
    },
    handler: async () => undefined,
  })
}

function checkResponse({ method, path, responses }: RouteDeclaration, reply: Reply): void {
  const schema = responses[reply.status]
  if (schema === undefined) throw new Error(`${method} ${path} does not declare status ${reply.status}`)
  if (schema === null) z.undefined().parse(reply.body)
  else schema.parse(JSON.parse(JSON.stringify(reply.body)))
}
