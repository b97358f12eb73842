import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, project, productsOf, published, membershipDifferences } =
  await collectionsService()

const named = (value: string) => ({ match: 'all', conditions: [{ field: 'name', operator: 'eq', value }] })
const put = (caller: Caller, { id }: { id: string }, body: unknown) =>
  send<Collection & { error?: { code: string; message: string } }>(caller, 'PUT', `/v1/collections/${id}`, body)

/** Creates the products A, B and C and a collection with the hand-picked A and B. */
async function picked(caller: Caller) {
  const [a, b, c] = (await products(caller, 'A', 'B', 'C')) as [State, State, State]
  const collection = await create(caller)
  await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [b.id, a.id] })
  return { collection, a, b, c }
}
type State = ReturnType<typeof aProductState>

describe('Collection membership_type: PUT flips between hand-picked and rule-driven', () => {
  it('MANUAL to SMART: membership materializes from the rules, and the answer and the one event have its count', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    const { status, body } = await put(caller, collection, { membership_type: 'SMART', rules: named('C') })
    expect([status, body.product_count]).toEqual([200, 1])
    expect(await productsOf(caller, collection)).toEqual(['C'])
    const [, ...events] = await published(caller)
    expect(events).toEqual([{ type: 'collection.updated', key: collection.id, payload: body, livemode: true }])
  })

  it('SMART to MANUAL: hand-picked members are shown again in their positions, except for deleted products', async () => {
    const caller = aCaller()
    const { collection, a, b } = await picked(caller)
    await put(caller, collection, { membership_type: 'SMART', rules: named('C') })
    await project(caller, a.id, { ...b, name: 'Z', version: 2 })
    expect((await put(caller, collection, { membership_type: 'MANUAL' })).body.product_count).toBe(1)
    expect(await productsOf(caller, collection)).toEqual(['Z'])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('a collection made SMART is empty when it becomes MANUAL, and then takes products', async () => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const collection = await create(caller, { membership_type: 'SMART', rules: named('A') })
    expect((await put(caller, collection, { membership_type: 'MANUAL' })).body.product_count).toBe(0)
    await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [a?.id] })
    expect(await productsOf(caller, collection)).toEqual(['A'])
  })

  it('once MANUAL, products that meet the rules no longer join; once SMART, they do and leave', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    await put(caller, collection, { membership_type: 'SMART', rules: named('D') })
    const d = aProductState({ name: 'D' })
    await project(caller, d)
    expect(await productsOf(caller, collection)).toEqual(['D'])
    await project(caller, { ...d, name: 'E', version: 2 })
    expect(await productsOf(caller, collection)).toEqual([])
    await put(caller, collection, { membership_type: 'MANUAL' })
    await project(caller, { ...d, version: 3 })
    expect(await productsOf(caller, collection)).toEqual(['B', 'A'])
  })

  it('a draft’s too, and with the order changed at the same time', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    await put(caller, collection, { published: false })
    await put(caller, collection, { membership_type: 'SMART', rules: named('C'), sort_order: 'TITLE_DESC' })
    await put(caller, collection, { membership_type: 'MANUAL', sort_order: 'TITLE_ASC' })
    await put(caller, collection, { published: true })
    expect(await productsOf(caller, collection)).toEqual(['A', 'B'])
  })

  it('back and forth many times leaves what it began with, and what it shows is all there is', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    for (let round = 0; round < 5; round++) {
      expect((await put(caller, collection, { membership_type: 'SMART', rules: named('C') })).body.product_count).toBe(
        1,
      )
      expect((await put(caller, collection, { membership_type: 'MANUAL' })).body.product_count).toBe(2)
    }
    expect(await productsOf(caller, collection)).toEqual(['B', 'A'])
    const states =
      await admin`select state from membership_version where collection_id = ${collection.id} and state <> 'RETIRED'`
    expect(states).toEqual([{ state: 'CURRENT' }])
  })
})

describe('rules: required when SMART; ignored otherwise', () => {
  it('becoming SMART without any is bad_request, and nothing is applied', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    for (const rules of [undefined, null]) {
      const { status, body } = await put(caller, collection, { membership_type: 'SMART', rules, name: 'x' })
      expect([status, body.error?.message]).toEqual([400, 'rules: is required when membership_type is SMART'])
    }
    expect(await productsOf(caller, collection)).toEqual(['B', 'A'])
  })

  it('those it had are kept while it is MANUAL, and need not be sent again', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    await put(caller, collection, { membership_type: 'SMART', rules: named('C') })
    await put(caller, collection, { membership_type: 'MANUAL' })
    expect((await put(caller, collection, { membership_type: 'SMART' })).body.product_count).toBe(1)
    expect(await productsOf(caller, collection)).toEqual(['C'])
  })

  it('while MANUAL, sent ones are ignored: neither checked nor kept', async () => {
    const caller = aCaller()
    const { collection } = await picked(caller)
    await put(caller, collection, { membership_type: 'SMART', rules: named('C') })
    await put(caller, collection, { membership_type: 'MANUAL', rules: { no: 'rules' } })
    for (const rules of [named('A'), 'nonsense', null]) {
      expect((await put(caller, collection, { rules })).status).toBe(200)
    }
    await put(caller, collection, { membership_type: 'SMART' })
    expect(await productsOf(caller, collection)).toEqual(['C'])
  })
})
