import { randomUUID } from 'node:crypto'
import type { Category, Product } from '@backoffice/contracts/product.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type Send, serviceClient } from '@backoffice/testing/service-client.ts'
import { describe, expect, it } from 'vitest'
import { createCategory } from '../categories/create-category.ts'
import { deleteCategory } from '../categories/delete-category.ts'
import { updateCategory } from '../categories/update-category.ts'
import { applyImportBatches } from '../imports/importers.ts'
import { applyMemberChange } from '../member-changes/apply-member-changes.ts'
import { takeStock } from '../stock/take-stock.ts'
import { deleteTag } from '../tags/delete-tag.ts'
import { listTags } from '../tags/list-tags.ts'
import { createProduct } from './create-product.ts'
import { deleteProduct } from './delete-product.ts'
import { refreshChunk } from './refresh-products.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { updateProduct } from './update-product.ts'

const database = await testDatabase('catalog')
const { admin, appUrl } = database

const OPERATIONS = [
  createProduct,
  updateProduct,
  deleteProduct,
  takeStock,
  createCategory,
  updateCategory,
  deleteCategory,
  listTags,
  deleteTag,
]
const times = <Result>(count: number, make: (index: number) => Result) =>
  Array.from({ length: count }, (_, index) => make(index))

interface Attack {
  readonly db: Database
  readonly caller: Caller
  readonly send: Send
  readonly create: (body: unknown) => Promise<Product>
  readonly category: (name: string) => Promise<Category>
  readonly run: ReturnType<typeof appliedBatches>['run']
}

/**
 * The number of deadlocks while `work` ran, as PostgreSQL counts them: a transaction that a deadlock ends is run again,
 * so answers do not show it. A server process reports its deadlocks when its session ends at the latest.
 */
async function deadlocksOf(work: (attack: Attack) => Promise<unknown>): Promise<number> {
  const counted = async () => {
    const [row] = await admin<[{ deadlocks: number }]>`
      select deadlocks::int from pg_stat_database where datname = current_database()`
    return row.deadlocks
  }
  const before = await counted()
  const name = randomUUID()
  const db = openDatabase({
    url: appUrl,
    applicationName: name,
    poolSize: 16,
    beginWithinMs: 60_000,
    transactionSettings: { ...REQUEST_SETTINGS, lock_timeout: '60s' },
  })
  const caller = aCaller()
  const send = serviceClient(db, OPERATIONS)
  await work({
    db,
    caller,
    send,
    create: async (body) => (await send<Product>(caller, 'POST', '/v1/products', body)).body,
    category: async (name) => (await send<Category>(caller, 'POST', '/v1/categories', { name })).body,
    run: appliedBatches(
      { ...database, db },
      applyImportBatches(() => undefined),
    ).run,
  }).finally(() => db.stop?.())
  const sessions = () => admin`
    select from pg_stat_activity where datname = current_database() and application_name = ${name}`
  await eventually('the sessions have ended', async () => (await sessions()).length === 0)
  return (await counted()) - before
}

const SIZES = times(100, (index) => `size ${index}`)
const ofManyVariants = () =>
  aVariableProduct({
    options: [{ name: 'Size', values: SIZES }],
    variants: SIZES.map((Size) => ({ sku: randomUUID(), attributes: { Size }, stock: 1000 })),
  })

describe('takes of stock lock variants in id order, and so does', () => {
  const takes = ({ send, caller }: Attack, { variants }: Product) => {
    const lines = variants.map(({ id }) => ({ variant: id, quantity: 1 }))
    return send(caller, 'POST', '/internal/stock/take', { order: randomUUID(), lines })
  }

  it('an update of their product', async () => {
    const deadlocks = await deadlocksOf(async (attack) => {
      const product = await attack.create(ofManyVariants())
      const answers = await Promise.all(
        times(40, (index) =>
          index % 2
            ? takes(attack, product)
            : attack.send(attack.caller, 'PUT', `/v1/products/${product.id}`, {
                type: 'VARIABLE_PRODUCT',
                name: `Shirt ${index}`,
              }),
        ),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    })
    expect(deadlocks).toBe(0)
  })

  it('a deletion of their product', async () => {
    const deadlocks = await deadlocksOf(async (attack) => {
      const { caller, send, create } = attack
      for (const _ of times(5, (index) => index)) {
        const product = await create(ofManyVariants())
        const taking = times(4, () => takes(attack, product))
        const deleted = await send(caller, 'DELETE', `/v1/products/${product.id}`)
        const answers = await Promise.all(taking)
        expect(deleted.status).toBe(204)
        expect([200, 422]).toEqual(expect.arrayContaining(answers.map(({ status }) => status)))
      }
      const { id, variants } = await create(ofManyVariants())
      const [first, ...others] = variants.map((variant) => variant.id).toSorted()
      const deleting = await admin.begin(async (tx) => {
        await tx`select from variant where id = ${first ?? ''} for no key update`
        const deleting = send(caller, 'DELETE', `/v1/products/${id}`)
        await eventually('the deletion waits for the first variant', async () => {
          const waiting = await admin`
            select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
          return waiting.length === 1
        })
        const free = await admin`select id from variant where product_id = ${id} for no key update skip locked`
        expect(free.map((variant) => variant.id).toSorted()).toEqual(others)
        return { deleting }
      })
      expect((await deleting.deleting).status).toBe(204)
    })
    expect(deadlocks).toBe(0)
  })
})

describe('a change of products locks them before their categories and tags, and so does', () => {
  /** Changes of products that put them into one category or another, one by one and many at once. */
  const moves = ({ send, caller, run }: Attack, ids: readonly string[], skus: readonly string[], slugs: string[]) => [
    ...ids.map((id, index) =>
      send(caller, 'PUT', `/v1/products/${id}`, { categories: [slugs[index % slugs.length]], tags: [`t${index % 3}`] }),
    ),
    run(
      caller,
      'products',
      skus.map((sku, index) => ({ sku, categories: slugs.toReversed(), tags: [`t${(index + 1) % 3}`] })),
    ),
    run(
      caller,
      'products',
      skus.toReversed().map((sku, index) => ({ sku, categories: slugs, tags: [`t${(index + 2) % 3}`] })),
    ),
  ]

  it('the deletion of a category whose products move', async () => {
    const deadlocks = await deadlocksOf(async (attack) => {
      const { send, caller, create, category } = attack
      const kept = await category('Kept')
      const skus = times(20, (index) => `SKU-${index}`)
      const products = await Promise.all(skus.map((sku) => create(aSimpleProduct({ sku, categories: ['kept'] }))))
      const ids = products.map(({ id }) => id)
      for (const round of times(8, (index) => index)) {
        const old = await category(`Old ${round}`)
        await Promise.all(ids.map((id) => send(caller, 'PUT', `/v1/products/${id}`, { categories: [old.slug] })))
        await Promise.allSettled([
          ...moves(attack, ids, skus, [old.slug, 'kept']),
          send(caller, 'DELETE', `/v1/categories/${old.id}?reassign_to=${kept.id}`),
          send(caller, 'PUT', `/v1/categories/${kept.id}`, { name: `Kept ${round}` }),
          attack.run(caller, 'categories', [
            { slug: 'kept', name: `Kept by import ${round}` },
            { slug: old.slug, name: `Old ${round} by import` },
          ]),
        ])
      }
    })
    expect(deadlocks).toBe(0)
  })

  it('the deletion of a tag', async () => {
    const deadlocks = await deadlocksOf(async (attack) => {
      const { send, caller, create, category } = attack
      await category('Kept')
      const skus = times(20, (index) => `SKU-${index}`)
      const products = await Promise.all(skus.map((sku) => create(aSimpleProduct({ sku, tags: ['t0', 't1', 't2'] }))))
      const ids = products.map(({ id }) => id)
      for (const _ of times(8, (index) => index)) {
        const { body } = await send<{ items: { id: string }[] }>(caller, 'GET', '/v1/tags')
        await Promise.allSettled([
          ...moves(attack, ids, skus, ['kept']),
          ...body.items.map(({ id }) => send(caller, 'DELETE', `/v1/tags/${id}`)),
        ])
      }
    })
    expect(deadlocks).toBe(0)
  })

  it('the worker that moves the products of a large category and publishes them', async () => {
    const deadlocks = await deadlocksOf(async (attack) => {
      const { db, caller, send, category } = attack
      const context = { ...caller, traceparent: '' }
      const [old, kept] = [await category('Old'), await category('Kept')]
      await admin`
        with new_product as (
          insert into product (
            workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at
          )
          select ${caller.workspaceId}, uuidv7(), 'Mug', concat('mug-of-', n), 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now()
          from generate_series(1, 1300) as n returning id
        ), new_variant as (
          insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
          select ${caller.workspaceId}, uuidv7(), id, concat('SKU-', id), 0, '{}', '{}', '{}', 1 from new_product
        )
        insert into product_category (workspace_id, product_id, category_id, position)
        select ${caller.workspaceId}, id, ${old.id}, 1 from new_product`
      const last = await admin<{ id: string }[]>`
        select id from product where workspace_id = ${caller.workspaceId} order by id desc limit 20`
      const ids = last.map(({ id }) => id)
      await send(caller, 'DELETE', `/v1/categories/${old.id}?reassign_to=${kept.id}`)
      const isDone = async () => (await admin`select from category where id = ${old.id}`).length === 0
      const work = async () => {
        while (!(await isDone())) {
          await db.inWorkspace(context, applyMemberChange)
          await db.inWorkspace(context, (tx) => refreshChunk(tx, new Date()))
        }
      }
      const attacks = async () => {
        for (let round = 0; round < 5 && !(await isDone()); round++) {
          await Promise.allSettled([
            ...moves(
              attack,
              ids,
              ids.map((id) => `SKU-${id}`),
              ['kept'],
            ),
            send(caller, 'PUT', `/v1/categories/${kept.id}`, { name: `Kept ${round}` }),
            attack.run(caller, 'categories', [{ slug: 'kept', name: `Kept by import ${round}` }]),
          ])
        }
      }
      await Promise.all([attacks(), work(), work()])
    })
    expect(deadlocks).toBe(0)
  })
})
