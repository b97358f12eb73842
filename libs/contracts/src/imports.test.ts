import { expect, it } from 'vitest'
import { badRequest } from './errors.ts'
import { rowErrorOf } from './imports.ts'

it('the message of a row has 1,000 characters at most, however many mistakes its cell has (OP-189)', () => {
  const { message } = rowErrorOf(badRequest(['rules'], 'rules.0 must be text; '.repeat(10_000)))
  expect([message.length, message.slice(0, 7), message.at(-1)]).toEqual([1001, 'rules.0', '…'])
  expect(rowErrorOf(badRequest(['sku'], 'is required')).message).toBe('is required')
})
