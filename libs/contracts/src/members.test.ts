import { expect, it } from 'vitest'
import { z } from 'zod'
import { Timestamp, TimestampInput } from './fields.ts'
import { members, withOlder } from './members.ts'

const Text = z.string()

const THING = members({
  id: { sql: 'uuid', shape: Text, shown: 'answer' },
  sku: { sql: 'text', shape: Text, input: Text, required: true, imported: 'key', shown: 'answer' },
  owner: { sql: 'uuid', column: 'owner_id', shape: Text, shown: 'nobody' },
  in_stock_at: {
    sql: 'timestamptz',
    shape: Timestamp.nullable(),
    input: TimestampInput,
    unset: null,
    imported: true,
    shown: 'answer',
  },
  size: { shape: z.int(), shown: 'answer' },
  cost: { sql: 'bigint', shape: z.int(), input: z.int(), initial: 1, shown: 'state', older: 0 },
})
const thing = { id: 'i', sku: 's', owner: 'o', inStockAt: new Date('2026-03-01T12:00:00Z'), cost: 5 }

it('lists columns, members and types in the order of the declaration', () => {
  expect(THING.sql).toMatchObject({
    columns: 'id, sku, owner_id, in_stock_at, cost',
    members: '"id", "sku", "owner", "inStockAt", "cost"',
    row: '"id" uuid, "sku" text, "owner" uuid, "inStockAt" timestamptz, "cost" bigint',
    selected: 'id as "id", sku as "sku", owner_id as "owner", in_stock_at as "inStockAt", cost as "cost"',
  })
  expect(THING.sql.assignments(['inStockAt', 'owner'])).toBe('owner_id = row."owner", in_stock_at = row."inStockAt"')
})

it('shows each body what it may have', () => {
  const answer = { id: 'i', sku: 's', in_stock_at: '2026-03-01T12:00:00.000Z', size: 3 }
  expect(THING.answerOf(thing, { size: 3 })).toEqual(answer)
  expect(THING.stateOf(thing, { size: 3 })).toEqual({ ...answer, cost: 5 })
  expect([THING.settingsOf(thing), Object.keys(THING.shapes.settings)]).toEqual([{ cost: 5 }, ['cost']])
})

it('changes what is sent, and unsets with null only what can be unset', () => {
  expect(THING.changed(thing, { sku: 't' })).toEqual({ ...thing, sku: 't' })
  expect(THING.changed(thing, { in_stock_at: '2027-01-01T00:00:00Z' }).inStockAt).toEqual(
    new Date('2027-01-01T00:00:00Z'),
  )
  expect(THING.changed(thing, { in_stock_at: null, sku: null })).toEqual({ ...thing, inStockAt: null })
  expect(THING.initial).toEqual({ inStockAt: null, cost: 1 })
})

it('requires in a create and in rows what has to be there, and nothing in an update', () => {
  const accepts = (shape: z.ZodRawShape, value: object) => z.strictObject(shape).safeParse(value).success
  const { create, update, imported, data, state } = THING.shapes
  expect([accepts(create, {}), accepts(update, {}), accepts(imported, {})]).toEqual([false, true, false])
  expect([accepts(create, { sku: 's', in_stock_at: null }), accepts(imported, { sku: 's' })]).toEqual([true, true])
  expect(Object.keys(update)).toEqual(['sku', 'in_stock_at', 'cost'])
  expect([Object.keys(data), Object.keys(state)]).toEqual([
    ['id', 'sku', 'in_stock_at', 'size'],
    ['id', 'sku', 'in_stock_at', 'size', 'cost'],
  ])
})

it('gives the data of an older record what it lacks', () => {
  const old = z.strictObject(THING.shapes.state).parse(THING.answerOf(thing, { size: 3 }))
  expect(withOlder(THING, old).cost).toBe(0)
})
