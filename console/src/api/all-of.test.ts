import { expect, it } from 'vitest'
import { allOf } from './all-of.ts'

it('reads each page after the last item of the one before, also after a short one, until there is enough', async () => {
  const pages = [['a', 'b'], ['c'], ['d']].map((ids, index) => ({
    items: ids.map((id) => ({ id })),
    has_next_page: index < 2,
  }))
  const read = (asked: (string | undefined)[]) => async (query: { after?: string }) => {
    const page = pages[asked.push(query.after) - 1]
    if (page === undefined) throw new Error('there is no such page')
    return page
  }
  const asked: (string | undefined)[] = []
  expect((await allOf(read(asked))).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  expect(asked).toEqual([undefined, 'b', 'c'])
  expect(await allOf(read([]), 3)).toHaveLength(3)
})
