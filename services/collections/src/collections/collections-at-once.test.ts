import type { Collection } from '@backoffice/contracts/collection.ts'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, project, productsOf, published, membershipDifferences } =
  await collectionsService()
type Body = Collection & Partial<ErrorBody>

const ROUNDS = Array.from({ length: 20 }, (_, round) => round)
const inStock = (value: number) => ({ match: 'all', conditions: [{ field: 'stock', operator: 'gte', value }] })
const put = (caller: Caller, { id }: { id: string }, body: unknown) =>
  send<Body>(caller, 'PUT', `/v1/collections/${id}`, body)
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted()
const eventsOf = async (caller: Caller, { id }: { id: string }) =>
  (await published(caller)).filter(({ key }) => key === id)

describe('Two updates at once', () => {
  it('are both applied member by member, one event each, the last of which is what reads show', async () => {
    const caller = aCaller()
    for (const round of ROUNDS) {
      const collection = await create(caller, { name: 'Summer', handle: `summer-of-${round}`, published: true })
      const answers = await Promise.all([
        put(caller, collection, { name: 'Winter', seo: { title: 'Snow' } }),
        put(caller, collection, { description: 'Cold', seo: { description: 'Ice' } }),
        put(caller, collection, { handle: `winter-of-${round}`, membership_type: 'SMART', rules: inStock(0) }),
      ])
      expect(statuses(answers)).toEqual([200, 200, 200])
      const { body } = await send<Collection>(caller, 'GET', `/v1/collections/winter-of-${round}`)
      expect(body).toMatchObject({ name: 'Winter', description: 'Cold', seo_title: 'Snow', seo_description: 'Ice' })
      const events = await eventsOf(caller, collection)
      expect(events).toHaveLength(4)
      expect(events.at(-1)?.payload).toEqual(body)
    }
  })

  it('that flip the membership and change rules leave one that is shown, and is what type and rules say', async () => {
    const caller = aCaller()
    const [a, b] = await products(caller, 'A', 'B')
    await project(caller, { ...(b as ReturnType<typeof aProductState>), total_stock: 50, version: 2 })
    for (const _ of ROUNDS) {
      const collection = await create(caller)
      await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [a?.id] })
      const answers = await Promise.all([
        put(caller, collection, { membership_type: 'SMART', rules: inStock(50) }),
        put(caller, collection, { membership_type: 'MANUAL', sort_order: 'TITLE_ASC' }),
        put(caller, collection, { membership_type: 'SMART', rules: inStock(0), sort_order: 'TITLE_DESC' }),
      ])
      expect(statuses(answers)).toEqual([200, 200, 200])
      const [row] = await admin`select membership_type, rules, sort_order from collection where id = ${collection.id}`
      const gathered = row?.rules.conditions[0].value === 50 ? ['B'] : ['A', 'B']
      const expected = row?.membership_type === 'MANUAL' ? ['A'] : gathered
      if (row?.sort_order === 'TITLE_DESC') expected.reverse()
      expect(await productsOf(caller, collection)).toEqual(expected)
      const shown =
        await admin`select from membership_version where collection_id = ${collection.id} and state = 'CURRENT'`
      expect(shown).toHaveLength(1)
    }
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('to the same handle leave it with one of them', async () => {
    const caller = aCaller()
    const collections = [await create(caller), await create(caller), await create(caller)]
    for (const round of ROUNDS) {
      const answers = await Promise.all(collections.map((one) => put(caller, one, { handle: `handle-${round}` })))
      expect(statuses(answers)).toEqual([200, 409, 409])
    }
  })
})

describe('Many creates at once', () => {
  it.each([[{}], [{ membership_type: 'SMART', rules: inStock(0) }]])(
    'of one name all get a handle of their own: %j',
    async (members) => {
      for (const _ of ROUNDS) {
        const caller = aCaller()
        const bodies = Array.from({ length: 8 }, () => ({ name: 'Summer', ...members }))
        const answers = await Promise.all(bodies.map((body) => send<Body>(caller, 'POST', '/v1/collections', body)))
        expect(answers.map(({ body }) => body.handle).toSorted()).toEqual([
          'summer',
          ...[2, 3, 4, 5, 6, 7, 8].map((n) => `summer-${n}`),
        ])
      }
    },
  )

  it('of one handle make one collection, the others are conflict', async () => {
    const caller = aCaller()
    for (const round of ROUNDS) {
      const body = { name: 'Summer', handle: `handle-${round}` }
      const answers = await Promise.all([1, 2, 3, 4].map(() => send<Body>(caller, 'POST', '/v1/collections', body)))
      expect(statuses(answers)).toEqual([201, 409, 409, 409])
      expect(answers.find(({ status }) => status === 409)?.body.error?.message).toContain('handle: ')
    }
    expect(await published(caller)).toHaveLength(ROUNDS.length)
  })

  it('and an update that takes the handle meanwhile: all have their own', async () => {
    const caller = aCaller()
    for (const round of ROUNDS) {
      const other = await create(caller, { name: `Other ${round}` })
      const [made, updated] = await Promise.all([
        send<Body>(caller, 'POST', '/v1/collections', { name: `Taken ${round}` }),
        put(caller, other, { handle: `taken-${round}` }),
      ])
      expect(made.status).toBe(201)
      const handles = await admin`select handle from collection where id in (${made.body.id}, ${other.id})`
      expect(new Set(handles.map(({ handle }) => handle)).size).toBe(2)
      expect([200, 409]).toContain(updated.status)
    }
  })
})

it('An update and a deletion at once: the collection is gone, its last event is the deletion, no member is left in use', async () => {
  const caller = aCaller()
  const [a] = await products(caller, 'A')
  for (const _ of ROUNDS) {
    const collection = await create(caller)
    const [updated, deleted, added] = await Promise.all([
      put(caller, collection, { membership_type: 'SMART', rules: inStock(0) }),
      send(caller, 'DELETE', `/v1/collections/${collection.id}`),
      send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [a?.id] }),
    ])
    expect([200, 404]).toContain(updated.status)
    expect(deleted.status).toBe(204)
    expect([204, 404, 422]).toContain(added.status)
    expect((await eventsOf(caller, collection)).at(-1)).toMatchObject({ type: 'collection.deleted' })
    const left =
      await admin`select state from membership_version where collection_id = ${collection.id} and state <> 'RETIRED'`
    expect(left).toHaveLength(0)
  }
})

it('Two deletions at once: one is not_found, one event', async () => {
  const caller = aCaller()
  for (const _ of ROUNDS) {
    const collection = await create(caller)
    const path = `/v1/collections/${collection.id}`
    const answers = await Promise.all([send(caller, 'DELETE', path), send(caller, 'DELETE', path)])
    expect(statuses(answers)).toEqual([204, 404])
    expect(await eventsOf(caller, collection)).toHaveLength(2)
  }
})

it('Rules and the products they gather change at once: members are what the last of both say', async () => {
  const caller = aCaller()
  const states = Array.from({ length: 6 }, (_, n) => aProductState({ name: String(n), total_stock: n }))
  await project(caller, ...states)
  const collection = await create(caller, { membership_type: 'SMART', rules: inStock(0), sort_order: 'TITLE_ASC' })
  for (const round of ROUNDS) {
    const next = states.map((state, n) => ({ ...state, total_stock: (n + round) % 6, version: round + 2 }))
    await Promise.all([
      ...next.map((state) => project(caller, state)),
      put(caller, collection, { rules: inStock(round % 5) }),
      put(caller, collection, { rules: inStock((round + 2) % 5) }),
    ])
    const [row] = await admin`select rules from collection where id = ${collection.id}`
    const bound = row?.rules.conditions[0].value
    const expected = next.filter(({ total_stock }) => total_stock >= bound).map(({ name }) => name)
    expect(await productsOf(caller, collection)).toEqual(expected)
  }
  expect(await membershipDifferences(caller)).toEqual([])
})
