import { readFileSync } from 'node:fs'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { untilServed } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { listApi } from './testing/product-lists.ts'
import { aVariableProduct } from './testing/product-samples.ts'

const { admin, create, db, list, seed, send, workerUrl } = await listApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'counts', poolSize: 4 })
whenDone(() => worker.stop?.())

const merge = () => mergeBatch(worker.sql, 'product_count')

const inWorkspace = (caller: Caller, work: (tx: Transaction) => Promise<unknown>) =>
  db.inWorkspace({ ...caller, traceparent: '' }, work)

/** Statuses and types whose kept count differs from how many products have them. */
const wrongCounts = () => admin`
  with counted as (
    select workspace_id, status, type, count(*) from product group by 1, 2, 3
  ), kept as (
    select workspace_id, status, type, sum(change) as count from product_count group by 1, 2, 3
  )
  select status, type, kept.count as kept, counted.count as counted
  from kept full join counted using (workspace_id, status, type)
  where coalesce(kept.count, 0) <> coalesce(counted.count, 0)`

it('totals follow creates, changes of status, type, categories and tags, and deletes', async () => {
  const caller = aCaller()
  const totals = (...queries: string[]) => Promise.all(queries.map(async (query) => (await list(caller, query)).total))
  const product = await create(caller, { category: { name: 'Cups' }, tags: ['New'] })
  await create(caller, { status: 'HIDDEN', category: { name: 'Cups' } })
  expect(await totals('', 'status=ACTIVE', 'status=HIDDEN', 'category=cups', 'tag=new')).toEqual([2, 1, 1, 2, 1])

  const put = (body: unknown) => send(caller, 'PUT', `/v1/products/${product.id}`, body)
  await put({ status: 'ARCHIVED', type: 'VIRTUAL_PRODUCT', categories: [], tags: ['Old'] })
  expect(await totals('', 'status=ACTIVE', 'status=ARCHIVED&type=VIRTUAL_PRODUCT')).toEqual([2, 0, 1])
  expect(await totals('category=cups', 'tag=new', 'tag=old')).toEqual([1, 0, 1])

  await send(caller, 'DELETE', `/v1/products/${product.id}`)
  expect(await totals('', 'status=ARCHIVED', 'tag=old')).toEqual([1, 0, 0])
  expect(await wrongCounts()).toEqual([])
})

it('totals are exact after creates, status changes, type switches and deletes at once, while rows are merged', async () => {
  const caller = aCaller()
  const members = { category: { name: 'Cups' }, tags: ['New'] }
  const made = await Promise.all(Array.from({ length: 40 }, () => create(caller, members)))
  const changing = made.flatMap(({ id }, index) => {
    const path = `/v1/products/${id}`
    const put = (body: unknown) => untilServed(() => send(caller, 'PUT', path, body))
    if (index % 4 === 0) return [untilServed(() => send(caller, 'DELETE', path))]
    if (index % 4 === 1) return [put({ status: 'HIDDEN' }), put({ tags: [] })]
    if (index % 4 === 2) return [put({ type: 'VARIABLE_PRODUCT', categories: [] })]
    const product = aVariableProduct(members)
    return [untilServed(() => send(caller, 'POST', '/v1/products', product))]
  })
  const merging = made.map(merge)
  const answers = await Promise.all(changing)
  await Promise.all(merging)
  expect(answers.filter(({ status }) => status >= 300)).toEqual([])
  const total = async (query: string) => (await list(caller, query)).total
  expect(await total('')).toBe(40)
  expect(await total('status=HIDDEN')).toBe(10)
  expect(await total('type=VARIABLE_PRODUCT')).toBe(20)
  expect(await total('tag=new')).toBe(30)
  expect(await total('category=cups')).toBe(30)
  expect(await wrongCounts()).toEqual([])
})

it('a create that is undone counts nothing', async () => {
  const caller = aCaller()
  await create(caller, { sku: 'taken' })
  await send(caller, 'POST', '/v1/products', aVariableProduct({ slug: 'mug' }))
  expect((await list(caller)).total).toBe(1)
  expect(await wrongCounts()).toEqual([])
})

it('the rows of a count stay few, however many changes there are', async () => {
  const caller = aCaller()
  await create(caller, { name: 'Mug' })
  await inWorkspace(
    caller,
    (tx) => tx`
      do $$
      begin
        for n in 1..2000 loop
          update product set status = case status when 'ACTIVE' then 'HIDDEN' else 'ACTIVE' end
          where workspace_id = current_setting('app.workspace_id')::uuid;
        end loop;
      end
      $$`,
  )
  expect((await list(caller, 'status=ACTIVE')).total).toBe(1)
  await merge()
  const rows = await admin`select from product_count where workspace_id = ${caller.workspaceId}`
  // Of 4,001: one for each status.
  expect(rows.length).toBeLessThanOrEqual(2)
  expect((await list(caller, 'status=ACTIVE')).total).toBe(1)
})

it('the migration counted, and took the words of, what was there before', async () => {
  await seed(aCaller(), 30)
  await seed(aCaller(), 20)
  const words = () => admin`select workspace_id, word, product_id, previous from product_word order by 1, 2, 3`
  const kept = await words()
  await admin`truncate product_word, product_count`
  const migration = readFileSync(new URL('../../migrations/0005_product_lists.sql', import.meta.url), 'utf8')
  await admin.begin(async (tx) => {
    await tx`set local role backoffice_migrator`
    await tx.unsafe(migration.slice(migration.indexOf('-- What was there before.')))
  })
  expect(kept.length).toBeGreaterThan(100)
  expect([...(await words())]).toEqual([...kept])
  expect(await wrongCounts()).toEqual([])
  const open = await admin`
    select relname from pg_class where relnamespace = 'catalog'::regnamespace and relrowsecurity and not relforcerowsecurity`
  expect(open).toEqual([])
})
