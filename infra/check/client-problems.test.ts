import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { clientProblems } from './client-problems.ts'

type Json = Record<string, unknown>

const body = (schema: Json) => ({ content: { 'application/json': { schema } } })
const object = (name: string, member: Json, others: Json = {}) => ({
  type: 'object',
  properties: { [name]: member },
  ...others,
})
const OPEN = { additionalProperties: true }

/** A document of one operation that takes a shirt, answers one, and sends an event of one. */
const document = (sent: Json, read: Json) => ({
  paths: { '/shirts': { put: { requestBody: body(sent), responses: { 200: body(read) } } } },
  webhooks: {},
  components: { schemas: { Sizes: { type: 'array', items: { type: 'string' } } } },
})
const problems = (sent: Json, read: Json = {}) => clientProblems(document(sent, read) as never)

test.each<[string, Json, Json]>([
  ['an optional list', object('sizes', { type: 'array', items: {} }), {}],
  ['an optional list by its name', object('sizes', { $ref: '#/components/schemas/Sizes' }), {}],
  ['an optional map', object('price', { type: 'object', additionalProperties: { type: 'string' } }), {}],
  ['a number without a format, sent', object('stock', { type: 'integer' }), {}],
  ['a number without a format, read', {}, object('stock', { type: ['integer', 'null'] }, OPEN)],
  ['a closed answer', {}, object('name', { type: 'string' }, { additionalProperties: false })],
  ['an answer that does not say that it is open', {}, object('name', { type: 'string' })],
  ['an enum in an answer', {}, object('status', { type: 'string', enum: ['SOLD'] }, OPEN)],
  ['a text of two kinds, sent', object('parent', { anyOf: [{ const: 'none' }, { format: 'uuid' }] }), {}],
  [
    'values of two types, read',
    {},
    { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array' }] } },
  ],
])('%s is a problem', (_case, sent, read) => {
  expect(problems(sent, read)).toEqual([expect.stringMatching(/^PUT \/shirts\S*: /)])
})

test.each<[string, Json, Json]>([
  ['a nullable list', object('sizes', { anyOf: [{ type: 'array', items: {} }, { type: 'null' }] }), {}],
  ['a list that is required', object('sizes', { type: 'array', items: {} }, { required: ['sizes'] }), {}],
  ['an optional object', object('seo', object('title', { type: 'string' })), {}],
  ['an enum that is sent', object('status', { type: 'string', enum: ['SOLD'] }), {}],
  ['a number with its format', object('stock', { type: 'integer', format: 'int64' }), {}],
  ['a nullable answer', {}, { anyOf: [object('name', { type: 'string' }, OPEN), { type: 'null' }] }],
])('%s is none', (_case, sent, read) => {
  expect(problems(sent, read)).toEqual([])
})

it('finds none in the document of the API', () => {
  const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
  expect(clientProblems(JSON.parse(text))).toEqual([])
})
