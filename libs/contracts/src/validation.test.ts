import { expect, it } from 'vitest'
import { z } from 'zod'
import { Id } from './fields.ts'
import { validate } from './validation.ts'

const Body = z.strictObject({
  name: z
    .string()
    .min(3, 'must have 3 characters')
    .regex(/^[a-z]+$/, 'must be letters'),
  sizes: z
    .array(z.int())
    .refine(([first]) => first === 1, 'must begin with 1')
    .refine(({ length }) => length < 2, 'must be one'),
})
const messageOf = (value: unknown, part = 'body') => {
  try {
    return validate(Body, value, part)
  } catch (error) {
    return (error as Error).message
  }
}

it('names one mistake once, though it breaks two rules, and each mistake of a list (OP-02)', () => {
  expect(messageOf({ name: '-', sizes: [1] })).toBe('name: must have 3 characters')
  expect(messageOf({ name: 'mug', sizes: [2, 3] })).toBe('sizes: must begin with 1; sizes: must be one')
  expect(messageOf({ name: '-', sizes: ['x'] })).toBe(
    'name: must have 3 characters; sizes[0]: must be a number, not a string',
  )
})

it('names a value of a wrong type once, and a parameter that comes twice (OP-27)', () => {
  expect(messageOf({ name: ['m'], sizes: [1] })).toBe('name: must be a string, not an array')
  expect(messageOf({ name: ['mug', 'cup'], sizes: [1] }, 'query')).toBe('name: is sent more than once')
})

it('lists the known parameters beside an unknown one (OP-27)', () => {
  const value = { name: 'mug', sizes: [1], size: 1 }
  expect(messageOf(value)).toBe('size: unknown member')
  expect(messageOf(value, 'query')).toBe('size: unknown parameter; this operation takes name, sizes')
})

it.each([
  [z.string(), 7, 'must be a string, not a number'],
  [z.string(), null, 'must be a string, not null'],
  [z.string(), undefined, 'is required'],
  [z.enum(['asc', 'desc']), undefined, 'is required'],
  [Id, undefined, 'is required'],
  [Id, 'x', 'must be a UUID'],
  [z.number(), true, 'must be a number, not a boolean'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.int(), [1], 'must be a number, not an array'],
  [z.boolean(), 'true', 'must be true or false, not a string'],
  [z.int().min(0), -1, 'must be at least 0'],
  [z.number().gt(0), 0, 'must be more than 0'],
  [z.int().max(9), 10, 'must be at most 9'],
  [z.string().min(1), '', 'must have at least 1 character'],
  [z.string().max(2), 'mug', 'must have at most 2 characters'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 item'],
  [z.enum(['ACTIVE', 'HIDDEN']), 'active', 'must be one of ACTIVE, HIDDEN'],
  [z.literal('all'), 'any', 'must be all'],
  [z.uuid(), 'mug', 'must be a UUID'],
  [z.iso.datetime(), '12:00', 'must be a time such as 2026-03-01T09:30:00Z'],
  [z.hostname(), 'https://shop.example.com', 'must be the name of a host such as shop.example.com'],
  [z.string().min(3, 'needs three'), 'ab', 'needs three'],
])('says what a member must be: %#', (schema, value, message) => {
  expect(() => validate(z.object({ name: schema }), { name: value }, 'body')).toThrow(`name: ${message}`)
})
