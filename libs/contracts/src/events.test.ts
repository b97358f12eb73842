import { readFileSync } from 'node:fs'
import { openPoints } from '@backoffice/testing/open-points.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { EVENT_TOPICS, EVENT_TYPES, RECORDS, TOPICS } from './events.ts'

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
const NAME = /\b[a-z_]+\.[a-z_]+\b/g

const records = Object.entries(RECORDS).flatMap(([topic, types]) =>
  Object.entries<z.ZodType>(types).map(([type, schema]) => [topic, type, schema] as const),
)

/** Every object in a JSON Schema that lists its members. */
function objectsOf(schema: unknown): object[] {
  if (typeof schema !== 'object' || schema === null) return []
  const inner = Object.values(schema).flatMap(objectsOf)
  return 'properties' in schema ? [schema, ...inner] : inner
}

/** Types with data members that the specification does not list (OP-57). */
const OPEN = ['bundle.updated', 'expense.created', 'expense.updated', 'expense.deleted', 'stock_count.closed']

it.each(records.filter(([, type]) => !OPEN.includes(type)))(
  'the record %s %s refuses members it does not know, at every depth',
  (_topic, type, schema) => {
    const objects = objectsOf(z.toJSONSchema(schema, { io: 'input', metadata: z.registry() }))
    expect(objects.length).toBeGreaterThanOrEqual(2)
    for (const object of objects) expect(object, type).toHaveProperty('additionalProperties', false)
  },
)

it.each(records)('the record %s %s carries what every record does, under its own type', (_topic, type, schema) => {
  const { properties, required } = z.toJSONSchema(schema, { io: 'input', metadata: z.registry() })
  expect(Object.keys(properties ?? {})).toEqual(['id', 'type', 'workspace_id', 'livemode', 'occurred_at', 'data'])
  expect(required).toEqual(['id', 'type', 'workspace_id', 'livemode', 'occurred_at', 'data'])
  expect(properties?.type).toMatchObject({ const: type })
})

/** The paths of the members that a JSON Schema requires, `[]` for an array's elements. */
function requiredMembers(schema: z.core.JSONSchema.BaseSchema): string[] {
  if (schema.type === 'array') return requiredMembers(schema.items as typeof schema).map((path) => `[].${path}`)
  const required = schema.required ?? []
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    requiredMembers(member as typeof schema).map((path) => `${name}.${path}`.replace('.[]', '[]')),
  )
  return [...required, ...inner]
}

const TAG = ['id', 'name', 'slug']
const COLLECTION = [
  ...['id', 'handle', 'name', 'description', 'seo_title', 'seo_description', 'sort_order', 'product_count'],
  ...['created_at', 'updated_at'],
]
const CATEGORY = ['id', 'name', 'slug', 'parent', 'parent_slug']
const MEDIA = ['id', 'url', 'thumbnail', 'type', 'position']
const PRODUCT = [
  ...['id', 'name', 'status', 'type', 'description', 'category', 'categories', 'requires_shipping', 'can_preorder'],
  ...['total_stock', 'price_range', 'options', 'media', 'variants', 'created_at', 'updated_at'],
  ...CATEGORY.map((name) => `categories[].${name}`),
  ...['price_range.min', 'price_range.max', 'options[].id', 'options[].name', 'options[].values'],
  ...MEDIA.map((name) => `media[].${name}`),
  ...['id', 'sku', 'stock', 'price', 'attributes'].map((name) => `variants[].${name}`),
]

/** The members that the first release requires. A later member is optional (CONTRIBUTING: Add a field). */
const FIRST_REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'product.created': PRODUCT,
  'product.updated': PRODUCT,
  'product.state': [...PRODUCT, 'variants[].cost', 'slug', 'version', 'tags', ...TAG.map((name) => `tags[].${name}`)],
  'category.created': ['id', 'name', 'slug', 'parent', 'position'],
  'category.updated': ['id', 'name', 'slug', 'parent', 'position'],
  'category.deleted': ['id', 'name', 'slug', 'parent', 'position'],
  'tag.created': TAG,
  'tag.deleted': TAG,
  'collection.created': COLLECTION,
  'collection.updated': COLLECTION,
}

it.each(records.filter(([, type]) => type in FIRST_REQUIRED))(
  'the data of %s %s requires what the first release required, and no more: replicas of two releases publish at once',
  (_topic, type, schema) => {
    const { properties } = z.toJSONSchema(schema, { io: 'input', metadata: z.registry() })
    const required = requiredMembers(properties?.data as z.core.JSONSchema.BaseSchema)
    expect(required.sort()).toEqual([...(FIRST_REQUIRED[type] ?? [])].sort())
  },
)

it('takes a record as it should be, and refuses it with one member too many, too few or wrong', () => {
  const id = '0198c7a0-0000-7000-8000-000000000001'
  const tag = { id, name: 'New in', slug: 'new-in' }
  const record = {
    id,
    type: 'tag.created',
    workspace_id: id,
    livemode: true,
    occurred_at: '2026-03-01T10:00:00.000Z',
    data: tag,
  }
  const schema = RECORDS[TOPICS.catalogEvents]['tag.created']
  expect(schema.parse(record)).toEqual(record)
  for (const wrong of [
    { ...record, colour: 'red' },
    { ...record, data: { ...tag, colour: 'red' } },
    { ...record, data: { id } },
    { ...record, type: 'tag.deleted' },
    { ...record, livemode: 'true' },
    { ...record, occurred_at: '2026-03-01' },
  ]) {
    expect(schema.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
  }
})

it('has a record type for each topic, and topics of events carry names one can subscribe to only', () => {
  expect(Object.keys(RECORDS).sort()).toEqual(Object.values(TOPICS).sort())
  for (const topic of EVENT_TOPICS) {
    for (const type of Object.keys(RECORDS[topic])) expect(EVENT_TYPES).toContain(type)
  }
})

it('lists each event name once, and webhook.ping not at all (OP-60)', () => {
  expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length)
  expect(EVENT_TYPES).not.toContain('webhook.ping')
  for (const name of EVENT_TYPES) expect(name).toMatch(/^([a-z_]+|webhook\.endpoint)\.[a-z]+$/)
})

it('has every name and every family that the specification shows', () => {
  const section = read('api-specification.md').split('### Event names and data')[1]?.split('\n## ')[0] ?? ''
  const shown = [...section.matchAll(/^\| ([^|]+)\|/gm)].map(([, first = '']) => first).slice(2)
  const names = shown.flatMap((cell) => cell.match(NAME) ?? []).filter((name) => name !== 'webhook.ping')
  expect(names.length).toBeGreaterThan(5)
  expect(EVENT_TYPES).toEqual(expect.arrayContaining(names))

  const families = shown.flatMap((cell) => [...cell.matchAll(/([a-z ]+?) events|(\w+)\.\*/g)].map(([, a, b]) => a ?? b))
  expect(families.length).toBeGreaterThan(8)
  for (const family of families) {
    const prefix = `${family?.trim().replaceAll(' ', '_')}.`
    expect(
      EVENT_TYPES.some((name) => name.startsWith(prefix)),
      prefix,
    ).toBe(true)
  }
})

it('has every name of OP-68', () => {
  const names = [...(openPoints.get('OP-68') ?? '').matchAll(/`([a-z_]+)\.([a-z/]+)`/g)].flatMap(
    ([, resource, words = '']) => words.split('/').map((word) => `${resource}.${word}`),
  )
  expect(names.length).toBeGreaterThan(20)
  expect(EVENT_TYPES).toEqual(expect.arrayContaining(names))
})
