import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { listApi } from './testing/product-lists.ts'

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
