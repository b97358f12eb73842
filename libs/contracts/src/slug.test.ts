import { expect, it } from 'vitest'
import { slugify } from './slug.ts'

it.each([
  ['Blue Shirt', 'blue-shirt'],
  ['  Crème brûlée!  ', 'creme-brulee'],
  ['A & B / C', 'a-b-c'],
  ['iPhone 15', 'iphone-15'],
  ['日本茶', '日本茶'],
  ['हिन्दी', 'हिन्दी'],
  ['!!!', 'product'],
])('makes a URL part of %j: %j', (name, slug) => {
  expect(slugify(name, 'product')).toBe(slug)
})

it('leaves a slug as it is', () => {
  expect(slugify(slugify('Été à la Plage 2', 'product'), 'product')).toBe('ete-a-la-plage-2')
})

it('leaves room for a number, though some letters become eighteen', () => {
  expect(slugify('\ufdfa'.repeat(255), 'product').length).toBeLessThanOrEqual(245)
  expect(slugify('𝒳'.repeat(255), 'product')).toBe('x'.repeat(245))
  expect(slugify(`${'a'.repeat(244)} b`, 'product')).toBe('a'.repeat(244))
})
