import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, test } from 'vitest'
import { customersApi } from './testing/customers-api.ts'

const { admin, create, list, seed, send } = await customersApi()

const SORTS = ['updatedAt', 'name'].flatMap((sort) => [`sort_by=${sort}`, `sort_by=${sort}&sort_order=asc`])

describeWalks('customers', {
  send,
  async list() {
    const caller = aCaller()
    await seed(caller, 30)
    let changes = 0
    return {
      caller,
      path: '/v1/customers',
      foreign: (await create(aCaller())).id,
      insert: () => create(caller),
      change: (id) => admin`
        update customer set updated_at = now(), firstname = ${`${changes++ % 2 === 0 ? 'A' : 'Z'} ${changes}`} where id = ${id}`,
    }
  },
  fixed: ['', 'sort_order=asc'],
  moving: SORTS,
  filters: [
    '',
    'email=user.7@mail2.example.com',
    'query=kind3',
    'query=com',
    'query=mail3+kind3',
    'updated_since=2026-01-01T00:01:20Z',
    'updated_since=2026-01-01T00:01:20Z&query=mail2',
  ],
})

test('updated_since finds what was changed then or later, and in the minute before (OP-92, OP-132)', async () => {
  const caller = aCaller()
  const [early, late] = [await create(caller, { firstname: 'Early' }), await create(caller, { firstname: 'Late' })]
  await admin`update customer set updated_at = '2026-02-03T10:00:00Z' where id = ${early.id}`
  await admin`update customer set updated_at = '2026-02-03T11:00:00.500Z' where id = ${late.id}`
  for (const [since, names] of [
    ['2026-02-03T10:01:00Z', ['Late', 'Early']],
    ['2026-02-03T10:01:00.001Z', ['Late']],
    ['2026-02-03T12:01:00.500%2B01:00', ['Late']],
    ['2026-02-03T11:01:00.501Z', []],
  ] as const) {
    for (const query of [`updated_since=${since}`, `updated_since=${since}&sort_by=updatedAt`]) {
      const { items, total } = await list(caller, query)
      expect([items.map(({ firstname }) => firstname), total], query).toEqual([names, names.length])
    }
  }
  expect(await list(caller, `updated_since=2026-02-03T10:30:00Z&query=early`)).toMatchObject({ total: 0, items: [] })
  expect((await send(caller, 'GET', '/v1/customers?updated_since=yesterday')).body.error.message).toContain(
    'updated_since: ',
  )
})
