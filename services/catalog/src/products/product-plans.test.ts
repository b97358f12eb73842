import { Socket } from 'node:net'
import type { Product } from '@backoffice/contracts/product.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { updateVariant } from '../variants/update-variant.ts'
import { createProduct } from './create-product.ts'
import { deleteProduct } from './delete-product.ts'
import { getProduct } from './get-product.ts'
import { listProducts } from './list-products.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { updateProduct } from './update-product.ts'

/** PostgreSQL plans a prepared statement five times for its parameters before it compares that with a kept plan. */
const PLANNED_AT_MOST = 5
/** Entries of indexes that the requests for one product read at most: words, links, variants, references. */
const ENTRIES = 100
/** The products of the test: a plan by the wrong index would read half of them at each request. */
const PRODUCTS = 120

const { admin, appUrl, db } = await testDatabase('catalog')
// The server would count the rows of tables whenever it likes, and plan anew. The test counts them once.
await admin`
  do $$
  declare name regclass;
  begin
    for name in select oid from pg_class where relkind = 'r' and relnamespace = 'catalog'::regnamespace loop
      execute format('alter table %s set (autovacuum_enabled = false)', name);
    end loop;
  end $$`.simple()
const caller = aCaller()

/** Runs `work` on one connection for requests. Returns what that connection has planned and read. */
async function observed(work: (send: ReturnType<typeof serviceClient>) => Promise<void>) {
  const applicationName = 'observed'
  const db = openDatabase({ url: appUrl, applicationName, poolSize: 1, transactionSettings: REQUEST_SETTINGS })
  const before = await counters()
  await work(serviceClient(db, [createProduct, getProduct, listProducts, updateProduct, deleteProduct]))
  const statements = await db.sql<{ statement: string; planned: number }[]>`
    select statement, custom_plans::integer as planned from pg_prepared_statements`
  await db.stop?.()
  // A connection adds its counts to the server's before it leaves the list.
  await eventually('the connection has ended', async () => {
    const open = await admin`
      select from pg_stat_activity where datname = current_database() and application_name = ${applicationName}`
    return open.length === 0
  })
  const after = await counters()
  return {
    plannedAnew: statements.filter(({ planned }) => planned > PLANNED_AT_MOST).map(({ statement }) => statement),
    scannedTables: after.tables.filter(({ name, rows }) => rows > (before.rowsOf.get(name) ?? 0)),
    entries: after.entries - before.entries,
  }
}

/** How often the tables of products have been read by an index. */
async function lookUps() {
  const tables = await admin<{ name: string; scans: number }[]>`
    select relname as name, idx_scan::integer as scans from pg_stat_user_tables
    where schemaname = 'catalog' and relname in ('product', 'variant', 'product_option', 'product_category', 'media')`
  return new Map(tables.map(({ name, scans }) => [name, scans]))
}

async function counters() {
  const tables = await admin<{ name: string; rows: number }[]>`
    select relname as name, seq_tup_read::integer as rows from pg_stat_user_tables where schemaname = 'catalog'`
  const [indexes] = await admin<[{ entries: number }]>`
    select sum(idx_tup_read)::integer as entries from pg_stat_user_indexes where schemaname = 'catalog'`
  return { tables, rowsOf: new Map(tables.map(({ name, rows }) => [name, rows])), entries: indexes.entries }
}

it('a connection from the time when the tables were small reads no table whole, and keeps its plans', async () => {
  const ids: string[] = []
  const references = (n: number) => ({ category: { name: `Category ${n % 20}` }, tags: [`Tag ${n % 20}`, 'New'] })
  const { plannedAnew, scannedTables, entries } = await observed(async (send) => {
    const create = async (n: number) => {
      const product = n % 3 === 0 ? aVariableProduct(references(n)) : aSimpleProduct(references(n))
      const { body } = await send<Product>(caller, 'POST', '/v1/products', { ...product, name: `Oak Table ${n}` })
      ids.push(body.id)
    }
    for (let n = 0; n < 20; n++) await create(n)
    // From now on PostgreSQL plans for tables of this size.
    await admin`analyze`
    for (let n = 20; n < PRODUCTS; n++) await create(n)
    for (const [n, id] of ids.entries()) {
      await send(caller, 'PUT', `/v1/products/${id}`, { name: `Elm Table ${n}`, description: 'Solid' })
      await send(caller, 'GET', `/v1/products/${id}`)
    }
    for (const id of ids.slice(0, PRODUCTS / 2)) await send(caller, 'DELETE', `/v1/products/${id}`)
  })
  expect(plannedAnew).toEqual([])
  expect(scannedTables).toEqual([])
  expect(entries / PRODUCTS).toBeLessThan(ENTRIES)
  const wrongWords = await admin`
    select coalesce(stored.product_id, product.id) as id, coalesce(stored.word, named.word) as word
    from product_word as stored
    full join (product cross join lateral words_of(name_words || ' ' || more_words) as named)
      on stored.product_id = product.id and stored.word = named.word and stored.previous = named.previous
    where stored.product_id is null or product.id is null`
  expect(wrongWords).toEqual([])
})

it('a create takes four packets to PostgreSQL at most, a rename and a new price three: they await what they read', async () => {
  const db = openDatabase({
    url: appUrl,
    applicationName: 'packets',
    poolSize: 1,
    transactionSettings: REQUEST_SETTINGS,
  })
  whenDone(() => db.stop?.())
  const send = serviceClient(db, [createProduct, updateProduct, updateVariant])
  const writes = [vi.spyOn(Socket.prototype, '_write'), vi.spyOn(Socket.prototype, '_writev')]
  whenDone(() => vi.restoreAllMocks())
  const packets: number[] = []
  for (let round = 0; round < 2; round++) {
    const counted = async (work: () => Promise<unknown>) => {
      for (const write of writes) write.mockClear()
      await work()
      // The first round prepares the statements.
      if (round === 1) packets.push(writes.reduce((sum, write) => sum + write.mock.calls.length, 0))
    }
    let product: Product | undefined
    await counted(async () => {
      product = (await send<Product>(caller, 'POST', '/v1/products', aVariableProduct({ name: `Lamp ${round}` }))).body
    })
    const path = `/v1/products/${product?.id}`
    await counted(() => send(caller, 'PUT', path, { name: `Light ${round}` }))
    await counted(() => send(caller, 'PUT', `${path}/variants/${product?.variants[0]?.id}`, { price: { EUR: 700 } }))
  }
  // The driver sends from a kilobyte on at once: what is read, what is written, its records; and COMMIT.
  const [created = 9, ...updated] = packets
  expect(created).toBeLessThanOrEqual(4)
  expect(Math.max(...updated)).toBeLessThanOrEqual(3)
})

it('a new name leaves the words alone that the old one has too', async () => {
  const words = (id: string) => admin<{ word: string; xmin: string }[]>`
    select word, previous, xmin::text from product_word where product_id = ${id} order by word`
  let before: { word: string; xmin: string }[] = []
  let after: { word: string; xmin: string }[] = []
  await observed(async (send) => {
    const { body } = await send<Product>(caller, 'POST', '/v1/products', aSimpleProduct({ name: 'Big Blue Oak Table' }))
    before = await words(body.id)
    await send(caller, 'PUT', `/v1/products/${body.id}`, { name: 'Big Oak Desk' })
    after = await words(body.id)
  })
  expect(after).toMatchObject([
    { ...before[0], word: 'big', previous: '' },
    { word: 'desk', previous: 'big' },
    { word: 'oak', previous: 'desk' },
  ])
})

it('a product is read with one look-up in each table, and a page of products, too', async () => {
  await observed(async (send) => {
    for (let n = 0; n < 3; n++) await send(caller, 'POST', '/v1/products', aVariableProduct({ name: `Ash Table ${n}` }))
  })
  const { body } = await serviceClient(db, [listProducts])<{ items: Product[] }>(caller, 'GET', '/v1/products?limit=3')
  const [id] = body.items.map((product) => product.id)
  const read = async (path: string) => {
    const before = await lookUps()
    await observed(async (send) => void (await send(caller, 'GET', path)))
    const after = await lookUps()
    return Object.fromEntries([...after].map(([name, scans]) => [name, scans - (before.get(name) ?? 0)]))
  }
  const once = { product: 1, variant: 1, product_option: 1, product_category: 1, media: 1 }
  expect(await read(`/v1/products/${id}`)).toEqual(once)
  // The list itself is read by an index, too.
  expect(await read('/v1/products?limit=3')).toEqual({ ...once, product: 2 })
})
