import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Import } from '@backoffice/contracts/import.ts'
import type { ImportImages } from '@backoffice/contracts/imports.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { findingPath } from '../files/file-paths.ts'
import { importsService } from '../testing/imports-service.ts'

const { adminOf, applied, atRest, directory, get, report, send, validated } = await importsService('catalog')

it('applies a validated file, and publishes import.completed once (OP-50, OP-72)', async () => {
  const caller = aCaller()
  const rows = Array.from({ length: 1201 }, (_, n) => `SKU-${n},Mug ${n},${n}`)
  const { status, summary, import_id } = await applied(caller, 'products', ['sku,name,stock', ...rows].join('\n'))
  expect({ status, ...summary }).toEqual({
    status: 'COMPLETED',
    total_rows: 1201,
    valid_rows: 1201,
    invalid_rows: 0,
    created: 1201,
    updated: 0,
    failed: 0,
    errors: [],
    errors_truncated: false,
  })
  const { body } = await send<{ total: number }>(caller, 'GET', '/v1/products')
  expect(body.total).toBe(1201)
  const events = await adminOf('imports')`
    select payload from outbox where topic = 'imports.events' and key = ${import_id}`
  expect(events).toEqual([
    {
      payload: {
        id: import_id,
        template: 'products',
        status: 'COMPLETED',
        summary: { total_rows: 1201, valid_rows: 1201, invalid_rows: 0, created: 1201, updated: 0, failed: 0 },
      },
    },
  ])
})

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

it('a product export of Shopify loads with its images, and says what became of each (OP-281, OP-282)', async () => {
  const server = createServer(
    ({ url }, response) => void (url === '/gone.png' ? response.writeHead(404).end() : response.end(PNG)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenDone(() => server.close())
  const { port } = server.address() as AddressInfo
  const imageOf = (name: string) => `http://127.0.0.1:${port}/${name}.png`
  const file = [
    'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Image Position',
    `cap,Cap,Size,S,CAP-S,5,${imageOf('back')},2`,
    `cap,,,M,CAP-M,5,${imageOf('front')},1`,
    `cap,,,,,,${imageOf('gone')},3`,
  ].join('\n')
  const caller = aCaller()
  const body = form({ name: 'template', content: 'products' }, { name: 'currency', content: 'USD' }, aFile(file))
  const { body: uploaded } = await send<Import>(caller, 'POST', '/v1/imports', body, { 'content-type': FORM })
  await atRest(caller, uploaded.id)
  expect((await send(caller, 'POST', `/v1/imports/${uploaded.id}/start`)).status).toBe(202)
  expect((await atRest(caller, uploaded.id)).status).toBe('COMPLETED')
  const path = `/v1/imports/${uploaded.id}/images`
  const counted = await eventually('no image waits', async () => {
    const answer = await send<ImportImages>(caller, 'GET', path)
    return answer.body.waiting === 0 && answer.body
  })
  const { body: list } = await send<{ items: Product[] }>(caller, 'GET', '/v1/products')
  const [cap] = list.items
  expect(counted).toEqual({
    ...{ import_id: uploaded.id, waiting: 0, added: 2, failed: 1 },
    failures: [{ product: cap?.id, url: imageOf('gone'), reason: 'answered 404' }],
  })
  expect(cap?.media.map(({ position, type }) => [position, type])).toEqual([
    [0, 'image/png'],
    [1, 'image/png'],
  ])
  expect((await send(aCaller(), 'GET', path)).status).toBe(404)
})

/** A file of the template products with so many new rows, from the given number on. */
const products = (count: number, first = 0) =>
  ['sku,name,stock', ...Array.from({ length: count }, (_, n) => `SKU-${first + n},Mug ${first + n},1`)].join('\n')

/** Waits until an import has this status, and its batches under way are answered. */
const ended = (id: string, status: string) =>
  eventually(`import ${id} is ${status}`, async () => {
    const [row] = await adminOf('imports')<{ status: string; ended_at: Date | null }[]>`
      select status, ended_at from import where id = ${id}`
    return row?.status === status && row.ended_at !== null
  })

/** The statuses in the import.completed of an import. */
const eventsOf = async (id: string) => {
  const events = await adminOf('imports')<{ status: string }[]>`
    select payload ->> 'status' as status from outbox where topic = 'imports.events' and key = ${id}`
  return events.map(({ status }) => status)
}

/** Keeps what `lock` does in catalog's database uncommitted until the returned function is called. */
async function hold(lock: (tx: AnySql) => Promise<unknown>): Promise<() => Promise<void>> {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = adminOf('catalog').begin(async (tx) => {
    await tx`savepoint before`
    await lock(tx)
    held.resolve()
    await released.promise
    await tx`rollback to before`
  })
  await held.promise
  return async () => {
    released.resolve()
    await holding
  }
}

/** Keeps catalog from applying batches. */
const holdCatalog = () => hold((tx) => tx`lock table inbox in share row exclusive mode`)

/** Keeps catalog from applying a batch of an import, and those after it. */
const holdBatch = ({ workspaceId }: Caller, id: string, batch: number) =>
  hold(
    (tx) => tx`
      insert into inbox (workspace_id, consumer, message_id) values (${workspaceId}, 'catalog.imports', ${`${id}/${batch}`})`,
  )

/** Uploads and validates products, and returns the id of the import. */
const validatedId = async (caller: Caller, content: string) => (await validated(caller, 'products', content)).import_id
const start = (caller: Caller, id: string, query = '') =>
  send<Import>(caller, 'POST', `/v1/imports/${id}/start${query}`)

it('tells how many rows are applied while it goes on, and never fewer than before', async () => {
  const caller = aCaller()
  const id = await validatedId(caller, products(5000))
  const release = await holdBatch(caller, id, 5)
  expect(await start(caller, id)).toMatchObject({ status: 202, body: { status: 'IMPORTING', processed_rows: 0 } })
  const seen: number[] = []
  const look = async () => {
    const { status, processed_rows } = await get(caller, id)
    seen.push(processed_rows)
    return { status, processed_rows }
  }
  await eventually('five batches are applied', async () => (await look()).processed_rows === 2500)
  expect((await look()).status).toBe('IMPORTING')
  await release()
  await eventually('all rows are applied', async () => (await look()).status === 'COMPLETED')
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect(seen.at(-1)).toBe(5000)
})

it('a cancelled import keeps and reports what was under way, publishes no further batch, and the next one goes on', async () => {
  const caller = aCaller()
  const [id, next] = [await validatedId(caller, products(3000)), await validatedId(caller, products(10, 5000))]
  const release = await holdCatalog()
  await start(caller, id)
  await start(caller, next)
  await eventually('four batches are under way', async () => {
    const [row] = await adminOf('imports')`select from import where id = ${id} and next_batch = 4`
    return row !== undefined
  })
  const cancel = () => send<Import>(caller, 'POST', `/v1/imports/${id}/cancel`)
  expect(await cancel()).toMatchObject({ status: 202, body: { status: 'CANCELLED', processed_rows: 0 } })
  expect(await eventsOf(id)).toEqual([])
  await release()
  await ended(id, 'CANCELLED')
  expect(await cancel()).toMatchObject({ status: 202, body: { status: 'CANCELLED', processed_rows: 2000 } })
  expect((await report(caller, id)).summary).toMatchObject({ total_rows: 3000, created: 2000, updated: 0, failed: 0 })
  expect(await atRest(caller, next)).toMatchObject({ status: 'COMPLETED', processed_rows: 10 })
  const { body } = await send<{ total: number }>(caller, 'GET', '/v1/products')
  expect(body.total).toBe(2010)
  expect(await eventsOf(id)).toEqual(['CANCELLED'])
  const batches = await adminOf('imports')`select from outbox where topic = 'imports.batches' and key = ${id}`
  expect(batches).toHaveLength(4)
})

it('a cancelled import keeps the files of its validation', async () => {
  const caller = aCaller()
  const { import_id: id } = await validated(caller, 'products', `${products(1)}\nSKU-B,Cup,many`)
  const read = (name: string) => send<string>(caller, 'GET', `/v1/imports/${id}/${name}`)
  const before = [await read('errors.csv'), await read('corrected.csv')]
  expect(before).toMatchObject([{ status: 200 }, { status: 200 }])
  await send(caller, 'POST', `/v1/imports/${id}/cancel`)
  expect([await read('errors.csv'), await read('corrected.csv')]).toEqual(before)
  expect(await eventsOf(id)).toEqual([])
})

it('starts once, a file with bad rows with skip_invalid only, and tells every error in the end (OP-50, OP-52)', async () => {
  const caller = aCaller()
  const rows = ['A,Mug,1', 'B,Cup,many', 'C,Jug,1', 'D,Pot,1', ',Pan,1']
  const id = await validatedId(caller, ['sku,name,stock', ...rows].join('\n'))
  const refused = await start(caller, id)
  expect(refused).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
  // The SKU of a row is there since the validation, so the row updates.
  const taken = { name: 'Teapot', type: 'SIMPLE_PRODUCT', sku: 'D', stock: 1 }
  expect((await send(caller, 'POST', '/v1/products', taken)).status).toBe(201)
  const starts = await Promise.all([1, 2, 3].map(() => start(caller, id, '?skip_invalid=true')))
  expect(starts.map(({ status }) => status).sort()).toEqual([202, 409, 409])
  expect(await atRest(caller, id)).toMatchObject({ status: 'COMPLETED_WITH_ERRORS', processed_rows: 3 })
  const { summary } = await report(caller, id)
  expect(summary).toMatchObject({ total_rows: 5, valid_rows: 3, invalid_rows: 2, created: 2, updated: 1, failed: 0 })
  expect(await eventsOf(id)).toEqual(['COMPLETED_WITH_ERRORS'])
})

it('a row that can no longer be applied fails alone, and errors.csv has it after the errors of the validation', async () => {
  const caller = aCaller()
  const content = 'sku,name,stock,slug\nA,Mug,1,mug\nB,Cup,many,cup\nC,Jug,1,jug'
  const { import_id: id } = await validated(caller, 'products', content)
  const product = { name: 'Another', slug: 'jug', type: 'SIMPLE_PRODUCT', sku: 'J', stock: 1 }
  expect((await send(caller, 'POST', '/v1/products', product)).status).toBe(201)
  await start(caller, id, '?skip_invalid=true')
  await atRest(caller, id)
  const { status, summary } = await report(caller, id)
  expect(status).toBe('COMPLETED_WITH_ERRORS')
  expect(summary).toMatchObject({ created: 1, updated: 0, failed: 1, errors_truncated: false })
  const places = summary.errors.map(({ row, column, code }) => [row, column, code])
  expect(places).toEqual([
    [3, 'stock', 'bad_request'],
    [4, 'slug', 'conflict'],
  ])
  const { body } = await send<string>(caller, 'GET', `/v1/imports/${id}/errors.csv`)
  const cells = body
    .trim()
    .split('\r\n')
    .map((line) => line.split(',').slice(0, 3))
  expect(cells.slice(1)).toEqual(places.map((place) => place.map(String)))
})

it('the records of a sandbox import say so', async () => {
  const caller = aCaller({ livemode: false })
  const { import_id: id, status } = await applied(caller, 'products', products(600))
  expect(status).toBe('COMPLETED')
  const records = await adminOf('imports')`
    select topic, type, livemode from outbox where key = ${id} order by id`
  const batch = { topic: 'imports.batches', type: 'batch.products', livemode: false }
  const completed = { topic: 'imports.events', type: 'import.completed', livemode: false }
  expect(records.map((record) => ({ ...record }))).toEqual([batch, batch, completed])
})

it('an import whose file of rows is lost is tried again, then FAILED with the reason, and the next one goes on', async () => {
  const caller = aCaller()
  const [id, next] = [await validatedId(caller, products(3)), await validatedId(caller, products(4, 10))]
  const sql = adminOf('imports')
  const [{ claim } = {}] = await sql<{ claim: string }[]>`select claim from import where id = ${id}`
  const path = findingPath({ workspaceId: caller.workspaceId, id, claim: claim ?? '' }, 'rows')
  await rm(join(directory, 'imports', path))
  await start(caller, id)
  await start(caller, next)
  await eventually('it was tried', async () => {
    const [{ failing_since: since } = {}] = await sql`select failing_since from import where id = ${id}`
    return since !== null
  })
  expect(await get(caller, id)).toMatchObject({ status: 'IMPORTING' })
  await sql`update import set failing_since = now() - interval '10 minutes' where id = ${id}`
  expect(await atRest(caller, id)).toMatchObject({ status: 'FAILED', processed_rows: 0 })
  const { summary } = await report(caller, id)
  expect(summary.errors).toMatchObject([{ row: 1, message: expect.stringContaining('gave up after 10 minutes') }])
  expect(await atRest(caller, next)).toMatchObject({ status: 'COMPLETED', processed_rows: 4 })
  expect(await eventsOf(id)).toEqual(['FAILED'])
})
