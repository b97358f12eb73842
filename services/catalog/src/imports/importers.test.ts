import { randomUUID } from 'node:crypto'
import { consumedImports } from '@backoffice/importing/testing/consumed-imports.ts'
import { aBatch } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { applyImportBatches } from './importers.ts'

const imports = await consumedImports(
  'catalog',
  applyImportBatches(() => undefined),
)
const { admin, send, answered, answersOf } = imports
const dead = imports.deadLetters()
await Promise.all([imports.startReplica(), imports.startReplica()])

const aMug = (stock: number, sku = 'MUG') => ({ sku, name: 'Mug', stock })
const statuses = (answers: Awaited<ReturnType<typeof answersOf>>) =>
  answers.map(({ rows }) => rows.map(({ status }) => status).join())

test('the batches of an import are applied in their order, each answered under its import, with its rows', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  await send(
    aBatch(caller, 'products', [aMug(1), { sku: 'BAD' }], { importId }),
    aBatch(caller, 'stock', [{ sku: 'MUG', stock: 2 }], { importId, batch: 1 }),
    aBatch(caller, 'products', [aMug(3)], { importId, batch: 2 }),
  )
  const answers = await answered(importId, 3)
  expect(answers[0]).toEqual({
    import_id: importId,
    batch: 0,
    template: 'products',
    rows: [
      { row: 2, status: 'created', errors: [] },
      { row: 3, status: 'failed', errors: [expect.objectContaining({ column: 'name', code: 'bad_request' })] },
    ],
  })
  expect(statuses(answers)).toEqual(['created,failed', 'updated', 'updated'])
  const movements = await admin`select delta from stock_movement where workspace_id = ${caller.workspaceId} order by id`
  expect(movements.map(({ delta }) => delta)).toEqual(['1', '1', '1'])
  const [answer] = await admin`select * from outbox where topic = 'imports.results' and key = ${importId} limit 1`
  expect(answer).toMatchObject({ type: 'batch.applied', workspace_id: caller.workspaceId, livemode: caller.livemode })
})

test('a batch that comes again changes nothing and is answered once', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  const first = aBatch(caller, 'stock', [{ sku: 'MUG', stock: 1 }], { importId, batch: 1 })
  await send(aBatch(caller, 'products', [aMug(5)], { importId }), first)
  await answered(importId, 2)
  const other = randomUUID()
  await send(aBatch(caller, 'stock', [{ sku: 'MUG', stock: 9 }], { importId: other }))
  await answered(other, 1)
  await send(first, aBatch(caller, 'stock', [{ sku: 'NONE', stock: 9 }], { importId, batch: 2 }))
  expect(statuses(await answered(importId, 3))).toEqual(['created', 'updated', 'failed'])
  const [variant] = await admin`select stock from variant where workspace_id = ${caller.workspaceId}`
  expect(variant?.stock).toBe('9')
})

test('a batch whose answer is lost is answered again by what is there now, and changes nothing', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  const skus = ['MUG', 'CUP', 'NONE']
  const first = aBatch(
    caller,
    'stock',
    skus.map((sku) => ({ sku, stock: 3 })),
    { importId, batch: 1 },
  )
  await send(
    aBatch(
      caller,
      'products',
      ['MUG', 'CUP'].map((sku) => ({ ...aMug(5), sku })),
      { importId },
    ),
    first,
  )
  await answered(importId, 2)
  await admin`update variant set stock = 2 where workspace_id = ${caller.workspaceId} and sku = 'CUP'`
  await admin`update inbox set received_at = now() - interval '1 hour' where workspace_id = ${caller.workspaceId}`
  await send(first)
  const [, , again] = await answered(importId, 3)
  expect(again?.batch).toBe(1)
  expect(again?.rows.map(({ row, status, errors: [error] }) => [row, status, error?.code])).toEqual([
    [2, 'updated', undefined],
    [3, 'failed', 'conflict'],
    [4, 'failed', 'unprocessable'],
  ])
  const stocks = await admin`select stock from variant where workspace_id = ${caller.workspaceId} order by sku`
  expect(stocks.map(({ stock }) => stock)).toEqual(['2', '3'])
})

test('many imports at once, of several workspaces, are each applied whole and once', async () => {
  const callers = [aCaller(), aCaller(), aCaller()]
  const all = callers.flatMap((caller, index) =>
    Array.from({ length: 4 }, () => ({ caller, importId: randomUUID(), prefix: `${index} ${randomUUID()}` })),
  )
  const batches = [0, 1, 2, 3].flatMap((batch) =>
    all.map(({ caller, importId, prefix }) => {
      const rows = Array.from({ length: 20 }, (_, index) => aMug(index, `${prefix} ${batch} ${index}`))
      return aBatch(caller, 'products', rows, { importId, batch })
    }),
  )
  await send(...batches, ...batches)
  for (const { importId } of all) {
    const answers = await answered(importId, 4, 60_000)
    expect(answers.map(({ batch }) => batch)).toEqual([0, 1, 2, 3])
    expect(new Set(answers.flatMap(({ rows }) => rows.map(({ status }) => status)))).toEqual(new Set(['created']))
  }
  for (const { workspaceId } of callers) {
    const [count] = await admin`
      select count(*)::int as products, count(distinct slug)::int as slugs from product where workspace_id = ${workspaceId}`
    expect(count).toEqual({ products: 320, slugs: 320 })
  }
})

test('a batch that a product with its SKU got ahead of runs again and finds it', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  await admin.begin(async (tx) => {
    const [workspace, id] = [caller.workspaceId, randomUUID()]
    await tx`
      insert into product (workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at)
      values (${workspace}, ${id}, 'First', 'first', 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now())`
    await tx`
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      values (${workspace}, ${randomUUID()}, ${id}, 'MUG', 0, '{}', '{}', '{}', 1)`
    await send(aBatch(caller, 'products', [aMug(1), aMug(2, 'CUP')], { importId }))
    await eventually('the batch waits', async () => {
      const waiting = await tx`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'replica' and wait_event_type = 'Lock'`
      return waiting.length > 0
    })
  })
  expect(statuses(await answered(importId, 1))).toEqual(['updated,created'])
})

test('templates of other services are passed over', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  const customers = aBatch(caller, 'customers', [{ email: 'a@example.com' }], { importId })
  await send(customers, aBatch(caller, 'products', [aMug(1)], { importId, batch: 1 }))
  expect((await answered(importId, 1)).map(({ batch }) => batch)).toEqual([1])
  const inbox = await admin`select consumer, message_id from inbox where workspace_id = ${caller.workspaceId}`
  expect([...inbox]).toEqual([{ consumer: 'catalog.imports', message_id: `${importId}/1` }])
})

test('a batch nobody can read goes to the dead letters with its reason, and its import’s later ones follow it', async () => {
  const caller = aCaller()
  const [sick, healthy] = [randomUUID(), randomUUID()]
  const broken = aBatch(caller, 'products', [aMug(1)], { importId: sick })
  await send({ ...broken, data: { ...broken.data, product_statuses: undefined as never } })
  await send(aBatch(caller, 'products', [aMug(1)], { importId: sick, batch: 1 }))
  await send(aBatch(caller, 'products', [aMug(1)], { importId: healthy }))
  expect(statuses(await answered(healthy, 1))).toEqual(['created'])
  const letters = await eventually('two dead letters', () => {
    const found = dead.records.filter(({ key }) => key === sick)
    return found.length === 2 && found
  })
  const reasons = letters.map(({ headers }) => headers['dead-letter-reason']?.toString())
  expect(reasons).toEqual([expect.stringContaining('product_statuses'), 'an earlier record of its key is here'])
  expect(await answersOf(sick)).toEqual([])
})
