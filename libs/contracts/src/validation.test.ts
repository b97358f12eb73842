import { expect, it } from 'vitest'
import { z } from 'zod'
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
    'name: must have 3 characters; sizes[0]: expected number, received string',
  )
})

it('lists the known parameters beside an unknown one (OP-27)', () => {
  const value = { name: 'mug', sizes: [1], size: 1 }
  expect(messageOf(value)).toBe('size: unknown member')
  expect(messageOf(value, 'query')).toBe('size: unknown parameter; this operation takes name, sizes')
})
