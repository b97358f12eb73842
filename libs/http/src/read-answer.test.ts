import { expect, test } from 'vitest'
import { z } from 'zod'
import { readAnswer } from './read-answer.ts'

const Answer = z.strictObject({
  items: z.array(z.strictObject({ id: z.string(), of: z.strictObject({ name: z.string() }).nullable() })),
})

test('members that are not known are left out, however deep', () => {
  const items = [
    { id: 'a', of: { name: 'n' } },
    { id: 'b', of: null },
  ]
  expect(readAnswer(Answer, { items })).toEqual({ items })
  const later = {
    items: [
      { id: 'a', of: { name: 'n', x: 1 }, y: [] },
      { id: 'b', of: null, z: {} },
    ],
    more: null,
  }
  expect(readAnswer(Answer, later)).toEqual({ items })
})

test('another shape is refused, also beside such members', () => {
  expect(() => readAnswer(Answer, { items: [{ id: 1, of: null }], more: 1 })).toThrow(z.ZodError)
  expect(() => readAnswer(Answer, undefined)).toThrow(z.ZodError)
})
