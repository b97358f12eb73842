import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, it } from 'vitest'
import { listApi, type ProductList } from './testing/product-lists.ts'

const { admin, create, list, seed, send } = await listApi()

const SORTS = ['updatedAt', 'name'].flatMap((sort) => [`sort_by=${sort}`, `sort_by=${sort}&sort_order=asc`])

describeWalks('products', {
  send,
  async list() {
    const [caller, other] = [aCaller(), aCaller()]
    await seed(caller, 30)
    await seed(other, 1)
    let changes = 0
    return {
      caller,
      path: '/v1/products',
      foreign: (await list(other)).items[0]?.id ?? '',
      insert: () => create(caller),
      change: (id) => admin`
        update product set updated_at = now(), name = ${`${changes++ % 2 === 0 ? 'A' : 'Z'} ${changes}`} where id = ${id}`,
    }
  },
  fixed: ['', 'sort_order=asc'],
  moving: SORTS,
  filters: [
    '',
    'status=ACTIVE',
    'type=VARIABLE_PRODUCT',
    'category=tenth',
    'tag=tenth&status=ACTIVE',
    'sku=item-14',
    'query=item+kind1',
    'updated_since=2026-01-01T20:00:00Z',
    'updated_since=2026-01-01T20:00:00Z&type=SIMPLE_PRODUCT',
  ],
})

it('goes on when an item of the page is deleted while the page is read (OP-03)', async () => {
  const caller = aCaller()
  await seed(caller, 6)
  const [first, second, third, fourth] = (await list(caller)).items.map(({ id }) => id)
  const page = await admin.begin(async (other) => {
    await other`lock media in access exclusive mode`
    const reading = send<ProductList>(caller, 'GET', `/v1/products?limit=2&after=${first}`)
    await eventually('the page has its ids', async () => {
      const waiting = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return waiting.length === 1
    })
    await other`delete from product where id = ${second ?? ''}`
    return { reading }
  })
  const { body } = await page.reading
  expect(body.items.map(({ id }) => id)).toEqual([third, fourth])
  expect(body.has_next_page).toBe(true)
})
