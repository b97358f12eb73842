import { expect, it } from 'vitest'
import { badRequest } from './errors.ts'
import { rowErrorOf, VariantRow } from './imports.ts'

it('the message of a row has 1,000 characters at most, however many mistakes its cell has (OP-189)', () => {
  const { message } = rowErrorOf(badRequest(['rules'], 'rules.0 must be text; '.repeat(10_000)))
  expect([message.length, message.slice(0, 7), message.at(-1)]).toEqual([1001, 'rules.0', '…'])
  expect(rowErrorOf(badRequest(['sku'], 'is required')).message).toBe('is required')
})

it('a variant names its product by an id in either case, and by a slug in lower case', () => {
  const productOf = (product: string) => VariantRow.safeParse({ sku: 'MUG', product }).data?.product
  expect(productOf('0198C7A0-0000-7000-8000-00000000000A')).toBe('0198c7a0-0000-7000-8000-00000000000a')
  expect([productOf('mug'), productOf('Mug')]).toEqual(['mug', undefined])
})
