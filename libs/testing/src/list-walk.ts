import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { describe, expect, it } from 'vitest'
import type { Send } from './service-client.ts'

interface ListBody {
  readonly page: number
  readonly total: number
  readonly has_next_page: boolean
  readonly has_previous_page: boolean
  readonly items: readonly { readonly id: string }[]
  readonly error: { readonly code: string; readonly message: string }
}

/** A list of a new workspace. */
interface WalkedList {
  readonly caller: Caller
  readonly path: string
  /** An item of another workspace's list. */
  readonly foreign: string
  /** Makes another item. */
  insert(): Promise<unknown>
  /** Changes an item, so that it has another place in lists that are sorted by what changes. */
  change(id: string): Promise<unknown>
}

interface Walks {
  readonly send: Send
  /** Makes a list with a dozen items or more. */
  list(): Promise<WalkedList>
  /** Sorts that no change moves an item in; the list's own unless given. */
  readonly fixed?: readonly string[]
  /** Sorts that a change moves an item in. */
  readonly moving?: readonly string[]
  /** Filters, each of which some items meet. */
  readonly filters?: readonly string[]
  /** How the list says that it lacks an item; `this list has no item` unless given. */
  readonly lacks?: string
}

const SIZE = 4

/** The tests of `after`, the last item of the page before, that each list passes (OP-03). */
export function describeWalks(name: string, walks: Walks): void {
  const { send, list, fixed = [''], moving = [], filters = [''], lacks = 'this list has no item' } = walks

  const get = async ({ caller, path }: WalkedList, query: string) => send<ListBody>(caller, 'GET', `${path}?${query}`)

  /** The ids of the pages by `after`; calls `meanwhile` between two pages with the last item. */
  async function walk(
    from: WalkedList,
    query: string,
    meanwhile = async (_last: string): Promise<unknown> => undefined,
  ) {
    const ids: string[] = []
    for (let after = ''; ; ) {
      const { status, body } = await get(from, `${query}&limit=${SIZE}${after}`)
      expect([status, body.has_previous_page], `${query}${after}`).toEqual([200, after !== ''])
      ids.push(...body.items.map(({ id }) => id))
      const last = body.items.at(-1)?.id
      if (!body.has_next_page || last === undefined) return ids
      expect(body.items).toHaveLength(SIZE)
      await meanwhile(last)
      after = `&after=${last}`
    }
  }

  describe(`after, the last item of the page before, in the list of ${name} (OP-03)`, () => {
    it('leads to the pages that numbers lead to, whatever the filter and the sort', async () => {
      const listed = await list()
      for (const filter of filters)
        for (const sort of [...fixed, ...moving]) {
          const { items, total } = (await get(listed, `${filter}&${sort}&limit=100`)).body
          expect(items.length, filter).toBeGreaterThan(0)
          expect(total, filter).toBe(items.length)
          const ids = await walk(listed, `${filter}&${sort}`)
          expect(ids, `${filter}&${sort}`).toEqual(items.map(({ id }) => id))
        }
    })

    it.each([...fixed, ...moving])(
      'shows what stays as it is once, while items are made and others changed: %s',
      async (sort) => {
        const listed = await list()
        const before = (await get(listed, `${sort}&limit=100`)).body.items.map(({ id }) => id)
        const changing = before.filter((_, index) => index % 3 === 1)
        let pages = 0
        const seen = await walk(listed, sort, async (last) => {
          // What changes comes to the end of a list by updatedAt: with changes for ever it has no end.
          if (++pages > 9) return
          await listed.insert()
          const isFixed = fixed.includes(sort)
          await Promise.all(changing.filter((id) => isFixed || id !== last).map((id) => listed.change(id)))
          if (isFixed) await listed.change(last)
        })
        const stable = before.filter((id) => fixed.includes(sort) || !changing.includes(id))
        expect(seen.filter((id) => stable.includes(id))).toEqual(stable)
      },
    )

    it('keeps the page number as it was sent, and the total', async () => {
      const listed = await list()
      const { items, total } = (await get(listed, `limit=${SIZE}`)).body
      const { body } = await get(listed, `limit=${SIZE}&page=7&after=${items[0]?.id.toUpperCase()}`)
      expect(body).toMatchObject({ page: 7, total, has_next_page: true, has_previous_page: true })
      expect(body.items.slice(0, SIZE - 1)).toEqual(items.slice(1))
    })

    it('is refused where the list has no such item: an empty page would look like the end', async () => {
      const listed = await list()
      for (const after of [listed.foreign, randomUUID()]) {
        const { status, body } = await get(listed, `after=${after}`)
        const message = `after: ${lacks} ${after}; start again without it`
        expect([status, body.error]).toEqual([422, expect.objectContaining({ code: 'unprocessable', message })])
      }
      const { status, body } = await get(listed, 'after=last')
      expect([status, body.error]).toEqual([400, expect.objectContaining({ message: 'after: must be a UUID' })])
    })
  })
}
