import { GRANTS } from '@backoffice/contracts/scopes.ts'
import { expect, test } from 'vitest'
import { SCOPE_SENTENCES, shownScopes } from './scope-sentences.ts'

test('every grant has words of its own, and nothing else has', () => {
  expect(Object.keys(SCOPE_SENTENCES).toSorted()).toEqual(GRANTS.toSorted())
  expect(new Set(Object.values(SCOPE_SENTENCES)).size).toBe(GRANTS.length)
})

test('full access and whole resources are wide and come first; what was not consented to is new', () => {
  expect(shownScopes(['sale::read', 'product::read', 'customer', '*'], ['sale::read'])).toMatchObject([
    { scope: '*', isWide: true, isNew: true },
    { scope: 'customer', isWide: true, isNew: true },
    { scope: 'product::read', isWide: false, isNew: true },
    { scope: 'sale::read', isWide: false, isNew: false },
  ])
})

test('nothing is marked as new for a first consent', () => {
  expect(shownScopes(['*', 'sale'], []).map(({ isNew }) => isNew)).toEqual([false, false])
})
