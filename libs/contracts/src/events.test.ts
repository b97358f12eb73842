import { readFileSync } from 'node:fs'
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

/** Their data has members that the specification does not list (OP-57). */
const OPEN = ['bundle.updated', 'expense.created', 'expense.updated', 'stock_count.closed']

it.each(records.filter(([, type]) => !OPEN.includes(type)))(
  'the record %s %s refuses members it does not know, at every depth',
  (_topic, type, schema) => {
    const objects = objectsOf(z.toJSONSchema(schema, { io: 'input' }))
    expect(objects.length).toBeGreaterThanOrEqual(2)
    for (const object of objects) expect(object, type).toHaveProperty('additionalProperties', false)
  },
)

it.each(records)('the record %s %s carries what every record does, under its own type', (_topic, type, schema) => {
  const { properties, required } = z.toJSONSchema(schema, { io: 'input' })
  expect(Object.keys(properties ?? {})).toEqual(['id', 'type', 'workspace_id', 'livemode', 'occurred_at', 'data'])
  expect(required).toEqual(['id', 'type', 'workspace_id', 'livemode', 'occurred_at', 'data'])
  expect(properties?.type).toMatchObject({ const: type })
})

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
  for (const name of EVENT_TYPES) expect(name).toMatch(/^[a-z_]+\.[a-z]+$/)
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
  const row =
    read('open-points.md')
      .split('\n')
      .find((line) => line.startsWith('| OP-68')) ?? ''
  const names = [...row.matchAll(/`([a-z_]+)\.([a-z/]+)`/g)].flatMap(([, resource, words = '']) =>
    words.split('/').map((word) => `${resource}.${word}`),
  )
  expect(names.length).toBeGreaterThan(20)
  expect(EVENT_TYPES).toEqual(expect.arrayContaining(names))
})
