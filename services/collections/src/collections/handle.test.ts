import { Handle } from '@backoffice/contracts/collection.ts'
import { describe, expect, it } from 'vitest'
import { CollectionPath } from './collection.ts'
import { handleOf } from './handle.ts'

describe('a handle that is derived from the name (OP-32, OP-113)', () => {
  it.each([
    ['Summer Sale!', 'summer-sale'],
    ['Crème brûlée', 'creme-brulee'],
    ['日本茶', '日本茶'],
    ['…', 'collection'],
    ['Preview', 'collection-preview'],
    ['0193A1B2-0000-7000-8000-000000000000', 'collection-0193a1b2-0000-7000-8000-000000000000'],
  ])('of %j is %j', (name, handle) => {
    expect(handleOf(name)).toBe(handle)
  })

  it.each(['ﷺ'.repeat(255), `${'x'.repeat(244)} yz`, '𐐀'.repeat(127)])(
    'leaves room for the longest number, and is cut where a letter ends: %j',
    (name) => {
      const handle = `${handleOf(name)}-999999999`
      expect(handle.isWellFormed()).toBe(true)
      expect(Handle.safeParse(handle).data).toBe(handle)
    },
  )
})

it('a handle is the same however its accents are encoded, where it is sent and in paths', () => {
  expect(Handle.parse('cafe\u0301')).toBe('café')
  expect(CollectionPath.parse({ handle: 'cafe\u0301' })).toEqual({ handle: 'café' })
})

it('the length of a handle is that of its composed form, where it is sent and in paths', () => {
  const longest = 'é'.repeat(255)
  expect(Handle.parse(longest.normalize('NFD'))).toBe(longest)
  expect(CollectionPath.parse({ handle: longest.normalize('NFD') })).toEqual({ handle: longest })
  expect(Handle.safeParse('\u0958'.repeat(200)).success).toBe(false)
})
