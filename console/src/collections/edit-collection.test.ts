import { expect, it } from 'vitest'
import type { Collection } from './collection.tsx'
import { fieldsOf } from './edit-collection.tsx'

it('asks whether and when a collection is shown only those who see that', () => {
  const shown = { name: 'Summer', handle: 'summer', sort_order: 'MANUAL' } as Collection
  const namesOf = (collection: Collection) => fieldsOf(collection).map(({ name }) => name)
  const hidden = ['published', 'publish_at', 'unpublish_at']
  expect(namesOf(shown).filter((name) => hidden.includes(name))).toEqual([])
  expect(namesOf({ ...shown, published: false })).toEqual(expect.arrayContaining(hidden))
})
