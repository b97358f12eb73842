import { type Convention, openApiDocument } from '@backoffice/http/openapi.ts'
import type { Components } from '@backoffice/http/openapi-components.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { type AnyAdminOperation, adminOperation } from './admin-operation.ts'

type Operations = Readonly<Record<string, AnyAdminOperation>>

const OF_OPERATORS: Convention = {
  root: '/admin/v1/',
  security: 'operatorToken',
  isOfKeys: false,
  places: ['admin'],
}

const INFO = {
  title: 'Commerce Back-Office admin API',
  version: 'v1',
  description:
    'For operators: every request carries an operator token. Errors, lists and times are those of the API of workspaces.',
  license: { name: 'MIT', identifier: 'MIT' },
}
const OF_KEY = {
  description: 'Names the request: sent again, it makes no second one.',
  'x-open-point': 'OP-301',
}
const OPERATOR_TOKEN = { type: 'http', scheme: 'bearer', bearerFormat: 'op_…' }

/** GET /admin/v1/openapi.json (OP-292): its own document. */
const getAdminDocument = (operations: () => Operations) =>
  adminOperation({
    method: 'GET',
    path: '/admin/v1/openapi.json',
    summary: 'Read this document',
    responses: { 200: z.looseObject({}) },
    handle: async () => ok(adminDocument(operations())),
  })

/** The operations of the admin API with the one that describes them all. */
export function withDocument(operations: Operations): Operations {
  const all: Operations = { ...operations, getAdminDocument: getAdminDocument(() => all) }
  return all
}

type Json = Record<string, unknown>

/** The headers of the rate limit are of keys. */
const withoutRateLimits = (document: Json): Json =>
  JSON.parse(JSON.stringify(document, (name, value) => (name.startsWith('X-RateLimit-') ? undefined : value)))

/** The OpenAPI document of admin operations, by their ids. */
export function adminDocument(operations: Operations) {
  const entries = Object.entries(operations).map(([operationId, one]) => ({
    ...one,
    operationId,
    scope: 'none' as const,
  }))
  const document = withoutRateLimits(openApiDocument(entries, OF_OPERATORS))
  const { responses = {}, parameters: { IdempotencyKey } = {}, ...rest } = document.components as Components
  // Without what only keys have.
  const paths = JSON.stringify(document.paths)
  const used = Object.entries(responses).filter(([code]) => paths.includes(`/responses/${code}"`))
  const components = {
    securitySchemes: { operatorToken: OPERATOR_TOKEN },
    ...rest,
    parameters: { IdempotencyKey: { ...(IdempotencyKey as Json), ...OF_KEY } },
    responses: Object.fromEntries(used),
  }
  return { ...document, info: INFO, servers: [{ url: '/' }], components }
}
