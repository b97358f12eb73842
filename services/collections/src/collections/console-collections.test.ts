import type { Collection } from '@backoffice/contracts/collection.ts'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { describe, expect, it } from 'vitest'
import { type CollectionPage, collectionsService, type ProductPage } from '../testing/collections-api.ts'

const { admin, send, create, products, takeStatements } = await collectionsService()
const aSession = () => aCaller({ console: true })
const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
const hidden = { membership_type: 'MANUAL', rules: null, published: false, publish_at: null, unpublish_at: null }

describe('Sessions of the console see what /v1 keeps from keys (OP-319)', () => {
  it('a list has drafts and scheduled collections, with how their products are gathered, but not those of others', async () => {
    const caller = aSession()
    const draft = await create(caller, { name: 'Draft', published: false })
    const window = { publish_at: '2999-01-01T00:00:00.000Z', unpublish_at: '2999-02-01T00:00:00.000Z' }
    const smart = await create(caller, { name: 'Smart', membership_type: 'SMART', rules, ...window })
    await create(aSession(), { name: 'Of another workspace', published: false })
    const { status, body } = await send<CollectionPage>(caller, 'GET', '/console/collections')
    expect([status, body.total]).toEqual([200, 2])
    expect(body.items).toEqual([
      { ...smart, ...hidden, membership_type: 'SMART', rules, published: true, ...window, is_gathering: false },
      { ...draft, ...hidden, is_gathering: false },
    ])
  })

  it('a draft and its products are there by handle and by id', async () => {
    const caller = aSession()
    const [shirt] = await products(caller, 'Shirt')
    const draft = await create(caller, { published: false })
    await send(caller, 'POST', `/v1/collections/${draft.id}/products`, { products: [shirt?.id] })
    for (const named of [draft.id, draft.handle]) {
      expect((await send(caller, 'GET', `/v1/collections/${named}`)).status).toBe(404)
      expect((await send(caller, 'GET', `/v1/collections/${named}/products`)).status).toBe(404)
      const one = await send<Collection>(caller, 'GET', `/console/collections/${named}`)
      expect(one.body).toEqual({ ...draft, product_count: 1, ...hidden, is_gathering: false })
      const { body } = await send<ProductPage>(caller, 'GET', `/console/collections/${named}/products`)
      expect(body.items.map(({ name }) => name)).toEqual(['Shirt'])
    }
    for (const path of [`/console/collections/${draft.id}`, `/console/collections/${draft.id}/products`])
      expect((await send(aSession(), 'GET', path)).status).toBe(404)
  })

  it('says that the products are gathered anew while a version is being built', async () => {
    const caller = aSession()
    const { id } = await create(caller)
    await admin`update membership_version set state = 'BUILDING' where collection_id = ${id}`
    expect((await send(caller, 'GET', `/console/collections/${id}`)).body).toMatchObject({ is_gathering: true })
  })

  it('its tag guards changes of the session, also of a draft (OP-266)', async () => {
    const caller = aSession()
    const { id } = await create(caller, { published: false })
    const path = `/v1/collections/${id}`
    const { headers } = await send(caller, 'GET', `/console/collections/${id}`)
    const guarded = { 'if-match': String(headers.etag) }
    expect((await send(caller, 'PUT', path, { membership_type: 'SMART', rules }, guarded)).status).toBe(200)
    const late = await send<ErrorBody>(caller, 'PUT', path, { membership_type: 'MANUAL' }, guarded)
    expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed'])
  })

  it('the tag of /v1 guards changes of support, which reads no more than that', async () => {
    const caller = aCaller({ console: true, who: 'support' })
    const { id } = await create(caller)
    const path = `/v1/collections/${id}`
    const { headers } = await send(caller, 'GET', path)
    const guarded = { 'if-match': String(headers.etag) }
    expect((await send(caller, 'PUT', path, { name: 'Changed' }, guarded)).status).toBe(200)
    expect((await send(caller, 'PUT', path, { name: 'Late' }, guarded)).status).toBe(412)
  })

  it.each(['', '/{id}', '/{id}/products'])(
    'keys get none of it, whatever their scopes: /console/collections%s',
    async (path) => {
      const caller = aCaller()
      const { id } = await create(caller)
      const url = `/console/collections${path.replace('{id}', id)}`
      expect((await send(caller, 'GET', url)).status).toBe(403)
      const reader = { ...caller, console: true as const, scopes: ['product::read'] }
      const { status, body } = await send<ErrorBody>(reader, 'GET', url)
      expect([status, body.error.message]).toEqual([403, 'API key lacks required scope: product::update'])
    },
  )

  it('a page takes as many statements as another, however many collections it has', async () => {
    const caller = aSession()
    const counts: number[] = []
    for (const size of [1, 12]) {
      while ((await send<CollectionPage>(caller, 'GET', '/console/collections')).body.total < size) await create(caller)
      takeStatements()
      await send(caller, 'GET', '/console/collections')
      counts.push(takeStatements().length)
    }
    expect(counts[1]).toBe(counts[0])
  })
})

describeWalks('the collections of a workspace', {
  send,
  async list() {
    const [caller, other] = [aSession(), aSession()]
    for (let n = 0; n < 12; n++) await create(caller, { name: `Collection ${n}`, published: n % 2 === 0 })
    return {
      caller,
      path: '/console/collections',
      foreign: (await create(other)).id,
      insert: () => create(caller, { name: 'New' }),
      change: (id) => send(caller, 'PUT', `/v1/collections/${id}`, { name: 'Changed' }),
    }
  },
})
