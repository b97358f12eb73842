import { ERROR_STATUS } from '@backoffice/contracts/errors.ts'
import type { Scope } from '@backoffice/contracts/scopes.ts'
import { z } from 'zod'
import type { RouteDeclaration } from './route.ts'
import { Streamed } from './streamed.ts'
import type { UploadDeclaration } from './upload.ts'

type Json = Record<string, unknown>

type Entry = RouteDeclaration & { readonly scope?: Scope | 'internal' }

/** A service's part of the API's OpenAPI 3.1 document, internal operations left out; the gateway merges the parts. */
export function openApiDocument(operations: readonly Entry[]): Json {
  const paths: Record<string, Json> = {}
  for (const operation of operations.filter(({ scope }) => scope !== 'internal')) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: entryOf(operation) }
  }
  return { openapi: '3.1.0', info: { title: 'Commerce Back-Office API', version: 'v1' }, paths }
}

function entryOf(operation: Entry): Json {
  const { openPoints = [] } = operation
  return {
    summary: operation.summary,
    ...(operation.scope && { description: `Needs the scope \`${operation.scope}\`.`, security: [{ apiKey: [] }] }),
    ...(operation.scope && { 'x-required-scope': operation.scope }),
    ...(openPoints.length > 0 && { 'x-open-point': openPoints.length === 1 ? openPoints[0] : openPoints }),
    ...(operation.extension && { 'x-extension': true }),
    parameters: [
      ...parametersOf('path', operation.params),
      ...parametersOf('query', operation.query),
      ...(operation.scope && operation.method === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...requestBodyOf(operation),
    responses: {
      ...Object.fromEntries(Object.entries(operation.responses).map(([status, body]) => [status, responseOf(body)])),
      default: { description: 'An error', content: jsonContent(ERROR_SCHEMA) },
    },
  }
}

function requestBodyOf({ body, upload }: Entry): Json {
  if (upload)
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema: formOf(body, upload) } } } }
  if (body === undefined) return {}
  // A request without a body is validated as undefined.
  const isRequired = !body.safeParse(undefined).success
  return { requestBody: { required: isRequired, content: jsonContent(schemaOf(body, 'input')) } }
}

/** The form of an upload: its text members, then the file. */
function formOf(body: z.ZodType | undefined, { member, maxBytes }: UploadDeclaration): Json {
  const { properties, required = [] } = schemaOf(body ?? z.strictObject({}), 'input')
  const description = `At most ${maxBytes} bytes`
  const file = { type: 'string', contentMediaType: 'application/octet-stream', description }
  return {
    type: 'object',
    properties: { ...properties, [member]: file },
    required: [...required, member],
    additionalProperties: false,
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret.',
  'x-open-point': 'OP-08',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const ERROR_SCHEMA = schemaOf(
  z.strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(ERROR_STATUS) as [string, ...string[]]),
      message: z.string(),
      request_id: z.string(),
    }),
  }),
  'output',
)

const jsonContent = (schema: unknown) => ({ 'application/json': { schema } })

function responseOf(body: z.ZodType | Streamed | null): Json {
  if (body === null) return { description: 'Done; no body' }
  const content =
    body instanceof Streamed
      ? { [body.mediaType]: { schema: { type: 'string' } } }
      : jsonContent(schemaOf(body, 'output'))
  return { description: 'Success', content }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

function parametersOf(place: 'path' | 'query', schema: z.ZodType | undefined): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input')
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}
