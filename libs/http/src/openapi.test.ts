import { named } from '@backoffice/contracts/named.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { openApiDocument } from './openapi.ts'
import { createThing, deleteThing, getThing, listThings } from './testing/things-api.ts'

type Json = Record<string, unknown>
interface Entry {
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { required: boolean; content: Json }
  responses: Record<string, { description: string; content?: { 'application/json': { schema: Json } } }>
  'x-open-point'?: unknown
  'x-extension'?: unknown
}

const document = openApiDocument([createThing, listThings, getThing, deleteThing])
const paths = document.paths as Record<string, Record<string, Entry>>
const entry = (path: string, method: string): Entry => paths[path]?.[method] ?? expect.fail(`no ${method} ${path}`)
const rateLimits = Object.fromEntries(
  ['Limit', 'Remaining', 'Reset'].map((name) => [
    `X-RateLimit-${name}`,
    { $ref: `#/components/headers/X-RateLimit-${name}` },
  ]),
)
const schemaOf = (found: Entry, status: string) => found.responses[status]?.content?.['application/json'].schema

it('is an OpenAPI 3.1 document with an entry per operation', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: expect.any(String), version: 'v1' } })
  expect(Object.entries(paths).map(([path, item]) => [path, Object.keys(item)])).toEqual([
    ['/v1/things', ['post', 'get']],
    ['/v1/things/{id}', ['get', 'delete']],
  ])
})

it('declares every parameter of a path, and those of the query with whether they are required', () => {
  for (const [path, item] of Object.entries(paths)) {
    const templated = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const { parameters } of Object.values(item)) {
      expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(templated)
    }
  }
  expect(entry('/v1/things/{id}', 'get').parameters).toMatchObject([
    { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
  ])
  expect(entry('/v1/things', 'get').parameters.map(({ name, in: place, required }) => [name, place, required])).toEqual(
    [
      ['page', 'query', false],
      ['limit', 'query', false],
      ['size', 'query', false],
      ['search', 'query', false],
    ],
  )
})

it('shows the body as it is sent, closed to unknown members, and the answers as they are given, open to those that come', () => {
  const create = entry('/v1/things', 'post')
  expect(create.requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { type: 'object', required: ['name'], additionalProperties: false } } },
  })
  expect(schemaOf(create, '201')).toMatchObject({ required: ['id', 'name'], additionalProperties: true })
  expect(entry('/v1/things', 'get').requestBody).toBeUndefined()
  expect(entry('/v1/things/{id}', 'delete').responses['204']).toEqual({
    description: expect.any(String),
    headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' }, ...rateLimits },
  })
})

it('says that a body is required exactly where a request without one is refused', () => {
  const members = z.strictObject({ seconds: z.int().default(0) })
  const needed = z.strictObject({ seconds: z.int() })
  const bodyOf = (body: z.ZodType) => {
    const { paths } = openApiDocument([{ ...createThing, body }]) as { paths: Record<string, { post: Entry }> }
    return paths['/v1/things']?.post.requestBody
  }
  expect(bodyOf(needed)?.required).toBe(true)
  expect(bodyOf(members)?.required).toBe(false)
  expect(bodyOf(members.prefault({}))?.required).toBe(false)
  expect(bodyOf(members.optional())?.required).toBe(false)
  expect(bodyOf(members.prefault({}))?.content).toMatchObject({
    'application/json': { schema: { type: 'object', properties: { seconds: { type: 'integer', default: 0 } } } },
  })
})

it('gives numbers their size, and the sets of answers room to grow (OP-244)', () => {
  const members = z.strictObject({
    state: z.enum(['OPEN', 'CLOSED']).describe('Where it stands'),
    amount: z.int(),
    position: z
      .int()
      .min(0)
      .max(2 ** 31 - 1),
    share: z.number().nullable(),
  })
  const { paths } = openApiDocument([{ ...createThing, body: members, responses: { 201: members } }]) as {
    paths: Record<string, { post: Entry }>
  }
  const numbers = {
    amount: { type: 'integer', format: 'int64' },
    position: { type: 'integer', format: 'int32' },
    share: { anyOf: [{ type: 'number', format: 'double' }, { type: 'null' }] },
  }
  const post = paths['/v1/things']?.post ?? expect.fail('no operation')
  expect(schemaOf(post, '201')).toMatchObject({
    properties: {
      ...numbers,
      state: {
        type: 'string',
        'x-known-values': ['OPEN', 'CLOSED'],
        description: 'Where it stands. Known values: OPEN, CLOSED. Others may come.',
      },
    },
  })
  expect(schemaOf(post, '201')).not.toHaveProperty('properties.state.enum')
  expect(post.requestBody?.content).toMatchObject({
    'application/json': {
      schema: { additionalProperties: false, properties: { ...numbers, state: { enum: ['OPEN', 'CLOSED'] } } },
    },
  })
})

it('has no pattern that a format says, or that clients cannot compile (OP-244)', () => {
  const slug = z.string().regex(/^\p{L}+$/u, 'must be letters')
  const query = z.strictObject({ id: z.guid(), since: z.iso.datetime(), slug, code: z.string().regex(/^[A-Z]{3}$/) })
  const { paths } = openApiDocument([{ ...listThings, query }]) as { paths: Record<string, { get: Entry }> }
  const parameters = paths['/v1/things']?.get.parameters ?? []
  expect(parameters.map(({ name, schema }) => [name, schema])).toEqual([
    ['id', { type: 'string', format: 'uuid' }],
    ['since', { type: 'string', format: 'date-time' }],
    ['slug', { type: 'string' }],
    ['code', { type: 'string', pattern: '^[A-Z]{3}$' }],
  ])
})

it('names each status that an operation can answer with, all with the error body (spec: Errors, OP-02)', () => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  expect(document.components).toMatchObject({
    responses: { not_found: { content }, rate_limited: { content } },
    schemas: {
      Error: {
        properties: { error: { required: ['code', 'message', 'request_id'], additionalProperties: true } },
      },
    },
  })
  const statusesOf = (path: string, method: string) => Object.keys(entry(path, method).responses).join(' ')
  expect(statusesOf('/v1/things', 'get')).toBe('200 400 401 403 429 500 503 504')
  expect(statusesOf('/v1/things', 'post')).toBe('201 400 401 403 409 413 415 422 429 500 503 504')
  expect(statusesOf('/v1/things/{id}', 'get')).toBe('200 400 401 403 404 429 500 503 504')
  expect(entry('/v1/things/{id}', 'get').responses['404']).toEqual({ $ref: '#/components/responses/not_found' })
})

it('has named schemas once, and refers to them', () => {
  const Part = named('Part', z.strictObject({ sku: z.string() }))
  const Whole = named('Whole', z.strictObject({ part: Part, spare: Part.nullable() }))
  const { paths, components } = openApiDocument([{ ...getThing, responses: { 200: Whole } }]) as {
    paths: Record<string, { get: Entry }>
    components: { schemas: Record<string, Json> }
  }
  expect(schemaOf(paths['/v1/things/{id}']?.get as Entry, '200')).toEqual({ $ref: '#/components/schemas/Whole' })
  expect(components.schemas.Whole).toMatchObject({
    properties: {
      part: { $ref: '#/components/schemas/Part' },
      spare: { anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] },
    },
  })
  expect(components.schemas.Part).toMatchObject({ required: ['sku'], additionalProperties: true })
})

it('refuses two different schemas of one name, and one operationId of two operations', () => {
  const answers = (schema: z.ZodType) => ({ 200: named('Thing', schema) })
  const one = { ...getThing, responses: answers(z.strictObject({ id: z.string() })) }
  const other = { ...deleteThing, responses: answers(z.strictObject({ id: z.int() })) }
  expect(() => openApiDocument([one, other])).toThrow('schemas has two different Thing')
  expect(() =>
    openApiDocument([getThing, { ...deleteThing, scope: 'product::delete', operationId: 'getThing', summary: 'Get' }]),
  ).toThrow('two operations have the operationId getThing')
})

it('names the open points an operation rests on, and marks extensions', () => {
  expect(entry('/v1/things', 'post')['x-open-point']).toBe('OP-08')
  expect(entry('/v1/things/{id}', 'get')['x-open-point']).toEqual(['OP-02', 'OP-19'])
  expect(entry('/v1/things/{id}', 'delete')).not.toHaveProperty('x-open-point')
  expect(entry('/v1/things/{id}', 'get')['x-extension']).toBe(true)
  expect(entry('/v1/things', 'post')).not.toHaveProperty('x-extension')
})

it('is plain JSON', () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  expect(JSON.stringify(document)).not.toContain('$schema')
})
