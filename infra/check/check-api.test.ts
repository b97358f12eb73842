import { expect, it } from 'vitest'
import { apiChanges } from './check-api.ts'

type Json = Record<string, unknown>

/** A document of one operation that takes and answers a shirt, and of a second operation. */
function document(changed: { readonly input?: Json; readonly answer?: Json; readonly remove?: Json } = {}): string {
  const schema = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })
  const shape = {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: 'string' } },
    required: ['name'],
  }
  const done = { 204: { description: 'Done' } }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Shirts', version: 'v1' },
    paths: {
      '/shirts': {
        post: {
          operationId: 'createShirt',
          requestBody: { required: true, content: schema('ShirtInput') },
          responses: { 201: { description: 'Created', content: schema('Shirt') } },
        },
        ...(changed.remove ?? { delete: { operationId: 'deleteShirts', responses: done } }),
      },
    },
    components: { schemas: { ShirtInput: { ...shape, ...changed.input }, Shirt: { ...shape, ...changed.answer } } },
  })
}

it.each([
  [
    'a removed member',
    { answer: { properties: { name: { type: 'string' } } } },
    'Property `size` of `Shirt` was removed',
  ],
  ['a newly required member', { input: { required: ['name', 'size'] } }, 'became required: `size`'],
  ['a removed operation', { remove: {} }, 'Operation `DELETE /shirts` was removed'],
])('%s breaks clients, and is named', (_case, changed, name) => {
  const { breaks, report } = apiChanges('HEAD', document(), document(changed))
  expect(breaks).toBe(true)
  expect(report).toContain(name)
})

it('a new member that is not required breaks nothing', () => {
  const properties = { name: { type: 'string' }, size: { type: 'string' }, colour: { type: 'string' } }
  expect(apiChanges('HEAD', document(), document({ input: { properties }, answer: { properties } }))).toMatchObject({
    breaks: false,
    report: expect.stringContaining('0 major, 2 minor'),
  })
})

it('a document that is none is no comparison', () => {
  expect(() => apiChanges('HEAD', document(), 'none')).toThrow('redocly diff failed')
})
