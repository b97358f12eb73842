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

it('shows the body as it is sent and the answers as they are given, closed to unknown members', () => {
  const create = entry('/v1/things', 'post')
  expect(create.requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { type: 'object', required: ['name'], additionalProperties: false } } },
  })
  expect(schemaOf(create, '201')).toMatchObject({ required: ['id', 'name'], additionalProperties: false })
  expect(entry('/v1/things', 'get').requestBody).toBeUndefined()
  expect(entry('/v1/things/{id}', 'delete').responses['204']).toEqual({ description: expect.any(String) })
})

it('says that a body is required exactly where a request without one is refused', () => {
  const members = z.strictObject({ seconds: z.int().default(0) })
  const bodyOf = (body: z.ZodType) => {
    const { paths } = openApiDocument([{ ...createThing, body }]) as { paths: Record<string, { post: Entry }> }
    return paths['/v1/things']?.post.requestBody
  }
  expect(bodyOf(members)?.required).toBe(true)
  expect(bodyOf(members.prefault({}))?.required).toBe(false)
  expect(bodyOf(members.optional())?.required).toBe(false)
  expect(bodyOf(members.prefault({}))?.content).toMatchObject({
    'application/json': { schema: { type: 'object', properties: { seconds: { type: 'integer', default: 0 } } } },
  })
})

it('shows the error body for every other answer (spec: Errors)', () => {
  for (const item of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { error } = (schemaOf(item, 'default')?.properties ?? {}) as { error: Json }
    expect(error).toMatchObject({ required: ['code', 'message', 'request_id'], additionalProperties: false })
  }
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
