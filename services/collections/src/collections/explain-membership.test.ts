import { randomUUID } from 'node:crypto'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'

const { send, create, project } = await collectionsService()

const conditions = [
  { field: 'stock', operator: 'gt', value: 3 },
  { field: 'name', operator: 'contains', value: 'SHIRT' },
  { field: 'tag', operator: 'is_set' },
]
const explain = (caller: Caller, handle: string, product: string) =>
  send(caller, 'GET', `/v1/collections/${handle}/products/${product}/explain`)

describe('GET …/products/{product_id}/explain (OP-112)', () => {
  it.each([
    ['all', false],
    ['any', true],
  ])(
    'says which conditions hold for a product and whether the rules do, and shows no rules (spec): %s',
    async (match, holds) => {
      const caller = aCaller()
      const state = aProductState({ name: 'Red shirt', total_stock: 3 })
      await project(caller, state)
      const smart = { membership_type: 'SMART', rules: { match, conditions }, published: false }
      const { handle } = await create(caller, smart)
      const { status, body } = await explain(caller, handle, state.id.toUpperCase())
      expect([status, body]).toEqual([
        200,
        {
          holds,
          conditions: [
            { position: 0, holds: false },
            { position: 1, holds: true },
            { position: 2, holds: false },
          ],
        },
      ])
    },
  )

  it('a MANUAL collection is unprocessable; what is not there, or another workspace’s, is not_found', async () => {
    const caller = aCaller()
    const [mine, theirs] = [aProductState(), aProductState()]
    await project(caller, mine)
    await project(aCaller(), theirs)
    const picked = await create(caller, { name: 'Picked' })
    const smart = await create(caller, { membership_type: 'SMART', rules: { match: 'all', conditions } })
    const manual = await explain(caller, picked.handle, mine.id)
    expect([manual.status, manual.body.error.message]).toEqual([
      422,
      'handle: the collection is MANUAL; its products are picked by hand',
    ])
    for (const id of [theirs.id, randomUUID()]) {
      const { status, body } = await explain(caller, smart.handle, id)
      expect([status, body.error.message]).toEqual([404, `product_id: this workspace has no product ${id}`])
    }
    expect((await explain(aCaller(), smart.id, mine.id)).status).toBe(404)
    expect((await explain(caller, smart.id, 'shirt')).status).toBe(400)
  })

  it('needs the right to change products', async () => {
    const caller = aCaller({ scopes: ['product::read'] })
    expect((await explain(caller, 'summer', randomUUID())).status).toBe(403)
  })
})
