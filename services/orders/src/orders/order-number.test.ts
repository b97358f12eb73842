import { expect, test } from 'vitest'
import { newOrderNumber } from './order-number.ts'

const NUMBERS = Array.from({ length: 2000 }, newOrderNumber)

test('an order number has eight digits and capital letters that are not mistaken for each other (OP-141)', () => {
  for (const number of NUMBERS) expect(number).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/)
})

test('order numbers follow from nothing: none comes twice among many, and each place has each of the 32 characters', () => {
  expect(new Set(NUMBERS).size).toBe(NUMBERS.length)
  for (let place = 0; place < 8; place++) expect(new Set(NUMBERS.map((number) => number[place])).size).toBe(32)
})
