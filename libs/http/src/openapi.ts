import { ERROR_STATUS, type ErrorCode, errorBody, RETRIED, reasonsOf } from '@backoffice/contracts/errors.ts'
import { named } from '@backoffice/contracts/named.ts'
import { z } from 'zod'
import { deprecationNotice } from './deprecation.ts'
import { type Components, describeSchema, mergeComponents, refuseRepeated } from './openapi-components.ts'
import { type Access, isOfConsole } from './operation.ts'
import { errorsOf, hasTag, paramsOf, type RouteDeclaration } from './route.ts'
import { Streamed } from './streamed.ts'
import type { UploadDeclaration } from './upload.ts'

type Json = Record<string, unknown>

type Entry = RouteDeclaration & Access & { readonly takesKey?: boolean }
type PublicEntry = Exclude<Entry, { readonly scope: 'internal' }>

/** What the operations of a document have in common. */
export interface Convention {
  /** What their paths begin with; the next segment is the resource. */
  readonly root: string
  /** The security scheme of callers. */
  readonly security: string
  /** Whether callers are API keys, with scopes and an `Idempotency-Key` for each POST. */
  readonly isOfKeys: boolean
  /** Where DESCRIPTIONS say what members of their bodies mean, unless a body or an operation says it. */
  readonly places: readonly string[]
}

const OF_WORKSPACES: Convention = { root: '/v1/', security: 'apiKey', isOfKeys: true, places: [] }

/** A service's part of the OpenAPI 3.1 document. Throws when two operations have one id, or schemas one name. */
export function openApiDocument(operations: readonly Entry[], convention = OF_WORKSPACES): Json {
  const paths: Record<string, Json> = {}
  const found: Components[] = [COMPONENTS]
  const schemaOf: SchemaOf = (schema, io, ...places) => {
    const { components, ...described } = describeSchema(schema, io, ...places)
    found.push(components)
    return described
  }
  const shown = operations.filter(
    (operation): operation is PublicEntry => operation.scope !== 'internal' && !isOfConsole(operation),
  )
  refuseRepeated(shown.map(({ operationId }) => operationId))
  for (const operation of shown) {
    const schemaOfIt: SchemaOf = (schema, io, ...places) =>
      schemaOf(schema, io, operation.operationId, ...places, ...convention.places)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: entryOf(operation, schemaOfIt, convention),
    }
  }
  const info = { title: 'Commerce Back-Office API', version: 'v1' }
  return { openapi: '3.1.0', info, paths, components: mergeComponents(found) }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output', ...places: readonly string[]) => Described

/** A schema with an example: tools that import the document take it for the request to send (OP-261). */
interface Described {
  readonly schema: Json
  readonly example?: unknown
}

function entryOf(operation: PublicEntry, schemaOf: SchemaOf, { root, security, isOfKeys }: Convention): Json {
  const { operationId, summary, scope, openPoints = [], deprecated } = operation
  const takesKey = operation.takesKey ?? (isOfKeys && operation.method === 'POST')
  const needs = scope === 'none' ? 'Needs no scope.' : `Needs the scope \`${scope}\`.`
  const notes = [...(isOfKeys ? [needs] : []), ...(deprecated ? [deprecationNotice(deprecated)] : [])]
  return {
    // The page groups operations by the resource in their paths.
    tags: [operation.path.slice(root.length).split('/')[0]],
    operationId,
    summary,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    ...(deprecated && { deprecated: true }),
    security: [{ [security]: [] }],
    ...(scope !== 'none' && { 'x-required-scope': scope }),
    ...(openPoints.length > 0 && { 'x-open-point': openPoints.length === 1 ? openPoints[0] : openPoints }),
    ...(operation.extension && { 'x-extension': true }),
    parameters: [
      ...parametersOf('path', paramsOf(operation), schemaOf),
      ...parametersOf('query', operation.query, schemaOf),
      ...(takesKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...requestBodyOf(operation, schemaOf),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([status, body]) => [
          status,
          responseOf(body, schemaOf, {
            ...(hasTag(operation) && { ETag }),
            ...(takesKey && { 'Idempotent-Replayed': REPLAYED }),
          }),
        ]),
      ),
      ...Object.fromEntries(
        Array.from(errorsOf(operation))
          .filter((code) => isOfKeys || code !== 'insufficient_scope')
          .map((code) => [ERROR_STATUS[code], { $ref: `#/components/responses/${code}` }]),
      ),
    },
  }
}

function requestBodyOf({ body, upload }: PublicEntry, schemaOf: SchemaOf): Json {
  if (upload) {
    const form = formOf(schemaOf(body ?? z.strictObject({}), 'input'), upload)
    return { requestBody: { required: true, content: { 'multipart/form-data': form } } }
  }
  if (body === undefined) return {}
  // A request without a body is validated as `{}`, where the schema takes that (OP-09).
  const isRequired = ![undefined, {}].some((nothing) => body.safeParse(nothing).success)
  return { requestBody: { required: isRequired, content: jsonContent(schemaOf(body, 'input')) } }
}

function formOf(members: Described, { member, maxBytes, example }: UploadDeclaration): Described {
  const { properties, required = [] } = members.schema
  const description = `The file: at most ${maxBytes.toLocaleString('en')} bytes.`
  // OpenAPI 3.1 names the media type; most generators know a file by its format, as in 3.0.
  const file = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream', description }
  const schema = {
    type: 'object',
    properties: { ...(properties as Json), [member]: file },
    required: [...(required as string[]), member],
    additionalProperties: false,
  }
  return { schema, example: { ...(members.example as Json), [member]: example } }
}

const IdempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. 1 to 255 visible ASCII characters, no spaces.',
  'x-open-point': 'OP-08',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const REQUEST_ID = '9b2d7e34-5c1f-4a86-b0d3-6e8f1a2c4d5e'

const ErrorBody = named(
  'Error',
  z.strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(ERROR_STATUS) as [string, ...string[]]),
      message: z.string(),
      request_id: z.string(),
    }),
  }),
  {
    error: {
      code: 'unprocessable',
      message: 'variants[1].sku: is required',
      request_id: REQUEST_ID,
    },
  },
)

const jsonContent = (described: Described) => ({ 'application/json': described })

const { components: errorComponents, ...error } = describeSchema(ErrorBody, 'output')

/** What the error codes of operations say (OP-02). */
const ERROR_DESCRIPTIONS: Readonly<Record<Exclude<ErrorCode, 'method_not_allowed'>, string>> = {
  bad_request: 'The request is malformed or does not fit its schema; `message` names the member',
  invalid_api_key: 'The API key is missing, wrong, expired or revoked, or its workspace is suspended',
  insufficient_scope: 'The API key lacks the scope of the operation',
  not_found: 'The workspace has no such resource',
  conflict: 'The request clashes with what exists, or its Idempotency-Key was used for another one',
  precondition_failed: 'The resource has changed since the answer whose `ETag` the request sends as `If-Match`',
  payload_too_large: 'The body is too large',
  unsupported_media_type: 'The body has another Content-Type than the operation takes',
  unprocessable: 'The request is well-formed and cannot be applied; nothing was applied',
  rate_limited:
    'Too many requests of the key, or too many at once of the workspace; `Retry-After` says when to try again',
  internal_error: 'Something went wrong on our side',
  service_unavailable: 'A part of the system does not answer now; try again after `Retry-After` seconds',
  gateway_timeout: 'The service did not answer in time; the request may have been applied',
}

/** No parameters of requests: methods of clients that are generated anew would take other arguments. */
const ETag = {
  description:
    'Stands for what the answer says. Send it as `If-None-Match` to read only what has changed (304), and, where 412 is declared, as `If-Match` to change only what has not.',
  'x-open-point': 'OP-266',
  schema: { type: 'string' },
}

const REPLAYED = {
  description: '`true` for the first answer to the `Idempotency-Key`, given again.',
  'x-open-point': 'OP-08',
  schema: { type: 'string' },
}

const errorHeaders = (code: ErrorCode): Json => ({
  'Error-Reason': {
    description: 'What a program can tell beyond the code. Others may come.',
    'x-open-point': 'OP-265',
    schema: { type: 'string', 'x-known-values': reasonsOf(code) },
  },
  Link: {
    description: 'Leads to what the reason means and what to do: `</docs/guides/errors#…>; rel="help"`.',
    'x-open-point': 'OP-265',
    schema: { type: 'string' },
  },
})

/** The headers of every answer (OP-06). */
const HEADERS_OF_ALL = {
  'X-Request-Id': { description: 'The id of the request. Support asks for it.', schema: { type: 'string' } },
  'X-RateLimit-Limit': {
    description: 'How many requests the key may send at once.',
    schema: { type: 'integer', format: 'int32' },
  },
  'X-RateLimit-Remaining': {
    description: 'How many of these requests are left.',
    schema: { type: 'integer', format: 'int32' },
  },
  'X-RateLimit-Reset': {
    description: 'The Unix second at which all of them are back.',
    schema: { type: 'integer', format: 'int64' },
  },
}
const HEADERS = {
  ...HEADERS_OF_ALL,
  'Retry-After': {
    description: 'The number of seconds after which to send the request again.',
    schema: { type: 'integer', format: 'int32' },
  },
}

const headersOf = (headers: object) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** What every service's part has: an answer for each error code, the headers of answers, and that of each POST. */
const COMPONENTS: Components = {
  ...errorComponents,
  responses: Object.fromEntries(
    Object.entries(ERROR_DESCRIPTIONS).map(([code, description]) => [
      code,
      {
        description: `\`${code}\`: ${description}`,
        headers: {
          ...headersOf(RETRIED.includes(code as ErrorCode) ? HEADERS : HEADERS_OF_ALL),
          ...errorHeaders(code as ErrorCode),
        },
        content: jsonContent({ ...error, example: errorBody(code as ErrorCode, description, REQUEST_ID) }),
      },
    ]),
  ),
  parameters: { IdempotencyKey },
  headers: HEADERS,
}

function responseOf(body: z.ZodType | Streamed | null, schemaOf: SchemaOf, own: Json): Json {
  const headers = { ...headersOf(HEADERS_OF_ALL), ...own }
  if (body === null) return { description: 'Done; no body', headers }
  const content =
    body instanceof Streamed
      ? { [body.mediaType]: { schema: { type: 'string' }, example: body.example } }
      : jsonContent(schemaOf(body, 'output'))
  return { description: 'Success', headers, content }
}

function parametersOf(place: 'path' | 'query', parameters: z.ZodType | undefined, schemaOf: SchemaOf): Json[] {
  if (parameters === undefined) return []
  const { properties = {}, required = [] } = schemaOf(parameters, 'input', place).schema as {
    properties?: Record<string, Json>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
}
