import { randomUUID } from 'node:crypto'
import type { pageView } from '@backoffice/contracts/pagination.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct } from '../products/testing/product-samples.ts'
import { catalog, type MaybeRefused } from './testing/categories-api.ts'

const { admin, newCategory, send, takeStatements } = await catalog()
const post = (caller: Caller, body: unknown, headers = {}): Promise<MaybeRefused<Category>> =>
  send(caller, 'POST', '/v1/categories', body, headers)
type Page = ReturnType<typeof pageView<Category>>
const slugs = async (caller: Caller) => {
  const rows = await admin`select slug from category where workspace_id = ${caller.workspaceId} order by id`
  return rows.map(({ slug }) => slug)
}

it('answers 201 with exactly the data of the specification, and fires category.created with it (OP-67)', async () => {
  const caller = aCaller({ livemode: false })
  const root = await newCategory(caller, { name: 'Kitchen' })
  const { status, body } = await post(caller, { name: 'Crème & Tea', parent: root.id.toUpperCase(), position: 7 })
  expect(status).toBe(201)
  expect(body).toEqual({ id: body.id, name: 'Crème & Tea', slug: 'creme-tea', parent: root.id, position: 7 })
  const [record] = await admin`select topic, type, livemode, payload from outbox where key = ${body.id}`
  expect(record).toEqual({ topic: 'catalog.events', type: 'category.created', livemode: false, payload: body })
})

it('is a root at position 0 unless told otherwise (OP-38)', async () => {
  expect((await post(aCaller(), { name: 'Cups' })).body).toMatchObject({ parent: null, position: 0 })
  expect((await post(aCaller(), { name: 'Cups', parent: null, slug: null })).body.slug).toBe('cups')
})

it('makes one category of a request sent twice with one Idempotency-Key (OP-08)', async () => {
  const caller = aCaller()
  const answers = await Promise.all([1, 2].map(() => post(caller, { name: 'Cups' }, { 'idempotency-key': 'once' })))
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  expect(answers[0]?.body).toEqual(answers[1]?.body)
  expect(await slugs(caller)).toEqual(['cups'])
})

it('can be chosen by a product at once, by id and by slug', async () => {
  const caller = aCaller()
  const parent = await newCategory(caller, { name: 'Kitchen' })
  const { id } = await newCategory(caller, { parent: parent.id })
  for (const reference of [id, 'cups']) {
    const product = aSimpleProduct({ categories: [reference] })
    const { body } = await send<{ categories: unknown }>(caller, 'POST', '/v1/products', product)
    expect(body.categories).toEqual([{ id, name: 'Cups', slug: 'cups', parent: parent.id, parent_slug: 'kitchen' }])
  }
})

describe('slugs (OP-26, OP-38)', () => {
  it('derives the slug from the name and numbers it when it is taken', async () => {
    const caller = aCaller()
    for (const name of ['Cups', 'Top 10', 'cups', 'Top 10', '!!!', 'CUPS']) await post(caller, { name })
    expect(await slugs(caller)).toEqual(['cups', 'top-10', 'cups-2', 'top-10-2', 'category', 'cups-3'])
  })

  it('keeps a slug composed, and takes it for the same however its accents are encoded where it is sent', async () => {
    const caller = aCaller()
    const sent = 'cafe\u0301'
    const { id, slug } = await newCategory(caller, { name: 'Café', slug: sent })
    expect(slug).toBe('café')
    expect((await post(caller, { name: 'Café', slug })).status).toBe(409)
    const product = aSimpleProduct({ categories: [sent], slug: sent })
    const made = await send<{ categories: unknown }>(caller, 'POST', '/v1/products', product)
    expect(made.body.categories).toMatchObject([{ id }])
    expect((await send(caller, 'POST', '/v1/products', aSimpleProduct({ slug }))).status).toBe(409)
    for (const path of ['/v1/categories?slug=', '/v1/products?category='])
      expect((await send<Page>(caller, 'GET', `${path}${encodeURIComponent(sent)}`)).body.total).toBe(1)
  })

  it('never derives one that looks like a UUID: `categories` of a product would take it for an id', async () => {
    const name = randomUUID()
    const { slug } = await newCategory(aCaller(), { name })
    expect(slug).toBe(`category-${name}`)
  })

  it('gives each of many concurrent categories of one name a slug of its own', async () => {
    const caller = aCaller()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(caller, { name: 'Cups' })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(await slugs(caller)).size).toBe(20)
  })

  it('finds another slug than a product that makes a category by that name at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const caller = aCaller()
      const answers = await Promise.all([
        post(caller, { name: 'Cups' }),
        send(caller, 'POST', '/v1/products', aSimpleProduct({ category: { name: 'Cups' } })),
      ])
      expect(answers.map(({ status }) => status)).toEqual([201, 201])
    }
  })

  it('refuses an explicit slug that is taken with conflict, also when both come at once', async () => {
    const caller = aCaller()
    const answers = await Promise.all([1, 2, 3].map(() => post(caller, { name: 'Cups', slug: 'mugs' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('slug: "mugs"') })
  })

  it('keeps the slugs of two workspaces apart', async () => {
    expect((await post(aCaller(), { name: 'Cups', slug: 'mugs' })).status).toBe(201)
    expect((await post(aCaller(), { name: 'Cups', slug: 'mugs' })).status).toBe(201)
  })
})

it("refuses a parent that is unknown or another workspace's with unprocessable, and applies nothing", async () => {
  const caller = aCaller()
  const foreign = await newCategory(aCaller())
  for (const parent of [randomUUID(), foreign.id]) {
    const { status, body } = await post(caller, { name: 'Cups', parent })
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toContain('parent: ')
  }
  expect(await slugs(caller)).toEqual([])
  expect(await admin`select from outbox where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
})

it('never hangs below a parent that is deleted at the same moment', async () => {
  for (let round = 0; round < 30; round++) {
    const caller = aCaller()
    const parent = await newCategory(caller)
    const [made, deleted] = await Promise.all([
      post(caller, { name: 'Small', parent: parent.id }),
      send(caller, 'DELETE', `/v1/categories/${parent.id}`),
    ])
    expect(deleted.status).toBe(204)
    expect([201, 422]).toContain(made.status)
    const left = await admin`select parent_id from category where workspace_id = ${caller.workspaceId}`
    expect(left).toEqual(made.status === 201 ? [{ parent_id: null }] : [])
  }
})

it.each<[string, unknown]>([
  ['name', {}],
  ['name', { name: '' }],
  ['name', { name: ' \t' }],
  ['name', { name: null }],
  ['name', { name: 7 }],
  ['name', { name: 'x'.repeat(256) }],
  ['name', { name: 'a\0b' }],
  ['slug', { name: 'Cups', slug: '' }],
  ['slug', { name: 'Cups', slug: 'Big Cups' }],
  ['slug', { name: 'Cups', slug: 'cups-' }],
  ['slug', { name: 'Cups', slug: 'CUPS' }],
  ['slug', { name: 'Cups', slug: 'x'.repeat(256) }],
  ['slug', { name: 'Cups', slug: randomUUID() }],
  ['parent', { name: 'Cups', parent: 'kitchen' }],
  ['parent', { name: 'Cups', parent: 7 }],
  ['position', { name: 'Cups', position: null }],
  ['position', { name: 'Cups', position: -1 }],
  ['position', { name: 'Cups', position: 1.5 }],
  ['position', { name: 'Cups', position: '1' }],
  ['position', { name: 'Cups', position: 2 ** 31 }],
  ['colour', { name: 'Cups', colour: 'red' }],
  ['id', { name: 'Cups', id: randomUUID() }],
  ['body', []],
])('refuses a wrong %s with bad_request naming it (OP-09): %j', async (path, body) => {
  const caller = aCaller()
  const answer = await post(caller, body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
  expect(answer.body.error.message).toContain(`${path}: `)
  expect(await slugs(caller)).toEqual([])
})

it('needs the scope product::create (OP-04)', async () => {
  const answer = await post(aCaller({ scopes: ['product::update', 'product::read'] }), { name: 'Cups' })
  expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope'])
})

it('sends at most 6 statements', async () => {
  const caller = aCaller()
  const parent = await newCategory(caller)
  takeStatements()
  await post(caller, { name: 'Cups', parent: parent.id })
  expect(takeStatements().length).toBeLessThanOrEqual(6)
})
