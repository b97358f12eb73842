import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Import, ImportUndo } from '@backoffice/contracts/import.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'

const { adminOf, applied, get, restart, send } = await importsService('catalog', 'orders', 'collections')

const undo = (caller: Caller, id: string) => send<ImportUndo>(caller, 'POST', `/v1/imports/${id}/undo`)
const read = async (caller: Caller, id: string) =>
  (await send<ImportUndo>(caller, 'GET', `/v1/imports/${id}/undo`)).body
const done = (caller: Caller, id: string) =>
  eventually(`the undo of ${id} is done`, async () => {
    const found = await read(caller, id)
    return found.status !== 'RUNNING' && found
  })
const products = async (caller: Caller) => (await send<{ items: Product[] }>(caller, 'GET', '/v1/products')).body.items

it('deletes what an import created, puts back what it updated, and reports what changed since (OP-151)', async () => {
  const caller = aCaller()
  await applied(caller, 'products', 'sku,name,stock\nOLD,Old,1\n')
  const before = await products(caller)
  const { import_id: id } = await applied(caller, 'products', 'sku,name,stock\nOLD,New,9\nA,A,1\nB,B,1\n')
  const changed = (await products(caller)).find(({ name }) => name === 'B')
  await send(caller, 'PUT', `/v1/products/${changed?.id}`, { description: 'mine' })
  const answers = await Promise.all([undo(caller, id), undo(caller, id)])
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
  const report = {
    ...{ import_id: id, status: 'DONE', deleted: 1, restored: 1, kept: 1 },
    rows: [{ key: 'B', reason: 'was changed since the import' }],
  }
  expect(await done(caller, id)).toEqual(report)
  expect(await undo(caller, id)).toEqual({ status: 202, body: report })
  const after = await products(caller)
  expect(after.map(({ name }) => name).sort()).toEqual(['B', 'Old'])
  expect(after.find(({ name }) => name === 'Old')).toEqual({ ...before[0], updated_at: expect.any(String) })
  expect((await get(caller, id)).status).toBe('COMPLETED')
})

it('of customers keeps those with orders and those that changed', async () => {
  const caller = aCaller()
  await applied(caller, 'customers', 'email,firstname,note\nold@x.de,Old,first\n')
  const { import_id: id } = await applied(
    caller,
    'customers',
    'email,firstname,note\nold@x.de,New,second\na@x.de,A,\nb@x.de,B,\nc@x.de,C,\n',
  )
  const customers = async () => (await send<{ items: Customer[] }>(caller, 'GET', '/v1/customers')).body.items
  const find = async (email: string) => (await customers()).find((customer) => customer.email === email)
  const changed = await send(caller, 'PUT', `/v1/customers/${(await find('b@x.de'))?.id}`, { note: 'mine' })
  expect(changed.status).toBe(200)
  const product = { name: 'Mug', type: 'SIMPLE_PRODUCT', sku: 'MUG', stock: 4, price: { NGN: 450_000 } }
  const [variant] = (await send<Product>(caller, 'POST', '/v1/products', product)).body.variants
  const order = {
    items: [{ variant: variant?.id, quantity: 1 }],
    currency: 'NGN',
    customer: { id: (await find('c@x.de'))?.id },
  }
  const placed = await send(caller, 'POST', '/v1/orders', order)
  expect([placed.status, placed.body]).toEqual([201, expect.anything()])
  await undo(caller, id)
  const { rows, ...counts } = await done(caller, id)
  expect(counts).toEqual({ import_id: id, status: 'DONE', deleted: 1, restored: 1, kept: 2 })
  expect(rows.toSorted((one, other) => (one.key < other.key ? -1 : 1))).toEqual([
    { key: 'b@x.de', reason: 'was changed since the import' },
    { key: 'c@x.de', reason: 'has or had orders' },
  ])
  expect(await find('old@x.de')).toMatchObject({ firstname: 'Old', note: 'first' })
  expect(await find('a@x.de')).toBeUndefined()
})

it('of collections keeps those with products that were picked by hand since', async () => {
  const caller = aCaller()
  await applied(caller, 'collections', 'handle,name,published,publish_at\nold,Old,true,2026-01-01T00:00:00Z\n')
  const collections = async () =>
    (await send<{ items: Collection[] }>(caller, 'GET', '/v1/collections')).body.items.map(({ name }) => name).sort()
  const { import_id: id } = await applied(
    caller,
    'collections',
    [
      'handle,name,published,membership_type,rules,publish_at',
      'old,New,true,SMART,"{""match"":""all"",""conditions"":[{""field"":""stock"",""operator"":""gt"",""value"":0}]}",2026-02-01T00:00:00Z',
      'a,A,true,MANUAL,,',
      'b,B,true,MANUAL,,',
    ].join('\n'),
  )
  const { id: product } = (
    await send<Product>(caller, 'POST', '/v1/products', {
      name: 'Mug',
      type: 'SIMPLE_PRODUCT',
      sku: 'MUG',
      stock: 4,
      price: {},
    })
  ).body
  await eventually('the product is picked', async () => {
    const { status } = await send(caller, 'POST', '/v1/collections/b/products', { products: [product] })
    return status === 204
  })
  await undo(caller, id)
  expect(await done(caller, id)).toMatchObject({
    ...{ status: 'DONE', deleted: 1, restored: 1, kept: 1 },
    rows: [{ key: 'b', reason: 'has products that were picked by hand' }],
  })
  expect(await collections()).toEqual(['B', 'Old'])
  const [row] = await adminOf('collections')`
    select membership_type, rules, publish_at from collection where workspace_id = ${caller.workspaceId} and handle = 'old'`
  expect(row).toEqual({ membership_type: 'MANUAL', rules: null, publish_at: new Date('2026-01-01') })
})

it('of an import that applied nothing is done at once, and FAILED when its former values are gone', async () => {
  const caller = aCaller()
  const { import_id: id } = await applied(caller, 'products', 'sku,name,stock\nA,A,1\n')
  await adminOf('catalog')`delete from imported_batch where workspace_id = ${caller.workspaceId}`
  await undo(caller, id)
  expect(await done(caller, id)).toMatchObject({ status: 'FAILED', deleted: 0 })
  await adminOf('imports')`update import set created = 0 where id = ${id}`
  await undo(caller, id)
  expect(await done(caller, id)).toMatchObject({ status: 'DONE', deleted: 0 })
  expect((await send<Import>(caller, 'GET', `/v1/imports/${id}`)).body.status).toBe('COMPLETED')
})

// The last one: requests reuse connections, and those to killed processes fail.
it('goes on after the imports service and the owner were killed in the middle', async () => {
  const caller = aCaller()
  const rows = Array.from({ length: 1500 }, (_, index) => `K-${index},Mug,1`)
  const { import_id: id } = await applied(caller, 'products', `sku,name,stock\n${rows.join('\n')}\n`)
  expect((await undo(caller, id)).status).toBe(202)
  await eventually('some are deleted', async () => (await read(caller, id)).deleted > 0)
  await Promise.all([restart('catalog'), restart('imports')])
  // The killed process may have claimed a step, for 20 seconds: they pass.
  await adminOf('imports')`
    update import_undo set claimed_until = claimed_until - interval '20 seconds' where import_id = ${id}`
  expect(await done(caller, id)).toMatchObject({ status: 'DONE', deleted: 1500, kept: 0 })
  const admin = adminOf('catalog')
  expect(await admin`select from product where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  expect(await admin`select from undone_change where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
})
