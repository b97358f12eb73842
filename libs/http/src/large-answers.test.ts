import { randomUUID } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { type ListQuery, ListQuery as ListQueryShape, Page } from '@backoffice/contracts/pagination.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { readSized, theseInOrder, type WantedRows } from '@backoffice/postgres/lists/sized-rows.ts'
import { aCaller, type Caller, headersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { LARGE_BYTES, slowness } from './large-answers.ts'
import { operation } from './operation.ts'
import { okCountedPage, okPage } from './paged-body.ts'
import { ok } from './reply.ts'
import { thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
await admin.unsafe(`
  create table long_text (workspace_id uuid not null, id uuid primary key default uuidv7(), text text not null);
  grant select on long_text to public`)

interface LongText {
  readonly id: string
  readonly text: string
}
const LongText = z.strictObject({ id: z.string(), text: z.string() })

const source = (tx: Transaction) => tx`from long_text where workspace_id = ${tx.context.workspaceId}`
const parts = (tx: Transaction) => ({ columns: tx`id, text`, source: source(tx), bytes: tx`octet_length(text)` })
const readTexts = (tx: Transaction, wanted: WantedRows) => readSized<LongText>(tx, { ...parts(tx), ...wanted })
const readPage = (tx: Transaction, query: ListQuery) =>
  okCountedPage<LongText>(tx, query, { ...parts(tx), bodyOf: (row) => row })

/** The reads of texts, by workspace. */
const reads: string[] = []

const listTexts = operation({
  operationId: 'listTexts',
  method: 'GET',
  path: '/v1/texts',
  summary: 'List texts',
  scope: 'product::read',
  query: ListQueryShape,
  responses: { 200: Page(LongText) },
  refusals: ['unprocessable'],
  handle: ({ query, inWorkspace }) => inWorkspace((tx) => readPage(tx, query)),
})
const previewTexts = operation({
  operationId: 'previewTexts',
  method: 'POST',
  path: '/v1/texts/preview',
  summary: 'Preview texts',
  scope: 'product::create',
  query: ListQueryShape,
  responses: { 200: Page(LongText) },
  onlyReads: true,
  refusals: ['unprocessable'],
  handle: ({ query, inWorkspace }) => inWorkspace((tx) => readPage(tx, query)),
})
const getText = operation({
  operationId: 'getText',
  method: 'GET',
  path: '/v1/texts/{id}',
  summary: 'Read a text',
  scope: 'product::read',
  responses: { 200: LongText },
  handle: ({ params: { id }, context, inWorkspace }) =>
    inWorkspace(async (tx) => {
      reads.push(context.workspaceId)
      const [text] = await readTexts(tx, theseInOrder(tx, [id]))
      return ok(text)
    }),
})
const getTextAhead = operation({
  operationId: 'getTextAhead',
  method: 'GET',
  path: '/v1/ahead/{id}',
  summary: 'Read a text ahead of the transaction',
  scope: 'product::read',
  responses: { 200: LongText },
  handle: async ({ params: { id }, context, readAhead }) => {
    const [text] = await readAhead((tx) => {
      reads.push(context.workspaceId)
      return readTexts(tx, theseInOrder(tx, [id]))
    })
    return ok(text)
  },
})
/** The texts that an earlier statement has found. */
let located: readonly string[] = []
const listLocated = operation({
  operationId: 'listLocated',
  method: 'GET',
  path: '/v1/located',
  summary: 'List located texts',
  scope: 'product::read',
  query: ListQueryShape,
  responses: { 200: Page(LongText) },
  refusals: ['unprocessable'],
  handle: ({ query, inWorkspace }) =>
    inWorkspace((tx) => okPage(tx, query, { total: located.length, ids: located, read: readTexts })),
})
const { send, port } = await thingsApi(db, {
  operations: [listTexts, previewTexts, getText, getTextAhead, listLocated],
})

/** Gives the caller texts of so many bytes, oldest first. Resolves with their ids. */
async function withTexts(sizes: readonly number[], caller = aCaller()) {
  const ids: string[] = []
  for (const size of sizes) {
    const [row] = await admin<{ id: string }[]>`
      insert into long_text (workspace_id, text) values (${caller.workspaceId}, repeat('é"', ${Math.floor(size / 3)}::int))
      returning id`
    ids.push(row?.id ?? '')
  }
  return { caller, ids }
}

/** Begins to read an answer, and takes no more than its first bytes. */
async function openAnswer(caller: Caller, path: string): Promise<IncomingMessage> {
  const headers = await headersOf(caller)
  return new Promise((resolve, reject) => {
    httpRequest({ port, path, agent: false, headers }, resolve).on('error', reject).end()
  })
}

const SIZES = [10, 200_000, 700_000, 30, 400_000, 90_000, 5]

it.each([
  ['GET', '/v1/texts'],
  ['POST', '/v1/texts/preview'],
])('%s: pages of large items are exact, with and without after (OP-192)', async (method, path) => {
  const { caller, ids } = await withTexts(SIZES)
  const newestFirst = ids.toReversed()
  const page = async (query: string) => {
    const { status, body } = await send<{ items: LongText[] }>(method, `${path}?${query}`, { caller })
    expect(status).toBe(200)
    return { ...body, items: body.items.map(({ id, text }) => `${ids.indexOf(id)}: ${Buffer.byteLength(text)}`) }
  }
  const items = SIZES.map((size, index) => `${index}: ${Math.floor(size / 3) * 3}`).toReversed()
  const whole = { page: 1, total: 7, has_previous_page: false, has_next_page: false }
  expect(await page('limit=7')).toMatchObject({ ...whole, size: 7, total_pages: 1, items })
  expect(await page('limit=5&page=1')).toMatchObject({ has_next_page: true, items: items.slice(0, 5) })
  expect(await page('limit=5&page=2')).toMatchObject({ has_next_page: false, items: items.slice(5) })
  const after = { has_next_page: true, has_previous_page: true, items: items.slice(1, 5) }
  expect(await page(`limit=4&after=${newestFirst[0]}`)).toMatchObject(after)
  expect(await page(`limit=3&after=${newestFirst[3]}`)).toMatchObject({ has_next_page: false, items: items.slice(4) })
})

it.each([
  ['a', 10],
  ['a large', 700_000],
])(
  'after an item, another page follows %s page that lacks an item which is gone by now (OP-03)',
  async (_what, size) => {
    const { caller, ids } = await withTexts([size, size])
    located = [ids[0] ?? '', randomUUID(), ids[1] ?? '']
    const { body } = await send<{ items: LongText[] }>('GET', `/v1/located?limit=2&after=${randomUUID()}`, { caller })
    expect({ ...body, items: body.items.map(({ id }) => id) }).toMatchObject({ has_next_page: true, items: ids })
  },
)

it.each([
  ['a', [4]],
  ['a large', SIZES],
])(
  '%s page that a POST reads is not kept for a repeated Idempotency-Key, which reads it again',
  async (_what, sizes) => {
    const { caller } = await withTexts(sizes)
    const preview = () =>
      send<{ total: number }>('POST', '/v1/texts/preview', { caller, headers: { 'idempotency-key': 'one' } })
    expect((await preview()).body.total).toBe(sizes.length)
    await withTexts([4], caller)
    expect((await preview()).body.total).toBe(sizes.length + 1)
    expect(await admin`select from idempotency_key`).toHaveLength(0)
  },
)

it.each([
  ['', 'texts'],
  [', read ahead,', 'ahead'],
])(
  'while clients take none of their large answers%s those of others and small ones go on (OP-192)',
  async (_, read) => {
    const bytes = 8 * 1024 * 1024
    const [one, other] = [await withTexts([bytes, 10]), await withTexts([bytes])]
    const [large, small] = one.ids
    const slow = await openAnswer(one.caller, `/v1/${read}/${large}`)
    const waiting = send('GET', `/v1/${read}/${large}`, { caller: one.caller })
    // It is measured, waits for its turn, and runs again afterwards.
    await eventually('the second one waits', () => reads.filter((id) => id === one.caller.workspaceId).length === 3)
    expect((await send('GET', `/v1/${read}/${small}`, { caller: one.caller })).status).toBe(200)
    expect((await send('GET', `/v1/${read}/${other.ids[0]}`, { caller: other.caller })).status).toBe(200)
    expect(reads.filter((id) => id === one.caller.workspaceId)).toHaveLength(4)
    slow.destroy()
    expect((await waiting).status).toBe(200)
    expect(reads.filter((id) => id === one.caller.workspaceId)).toHaveLength(5)
  },
)

it('two workspaces that take none of their largest answers keep a third one waiting for some seconds only (OP-192)', async () => {
  const bytes = 8 * 1024 * 1024
  const [one, other, third] = await Promise.all([withTexts([bytes]), withTexts([bytes]), withTexts([LARGE_BYTES * 6])])
  const stalled = await Promise.all([one, other].map(({ caller, ids }) => openAnswer(caller, `/v1/texts/${ids[0]}`)))
  expect((await send('GET', `/v1/texts/${third.ids[0]}`, { caller: third.caller })).status).toBe(200)
  for (const answer of stalled) answer.destroy()
})

it('while others wait, a client that takes 64 KiB/s over ten seconds keeps its turn, in lumps too, and no other does', () => {
  let [time, taken]: [number, number | undefined] = [0, 0]
  const isTooSlow = slowness(
    () => taken,
    () => time,
  )
  /** Looks each second for so long, and returns how long it took to find it too slow. */
  const lookFor = (seconds: number, bytesAt: (second: number) => number | undefined) => {
    for (let second = 1; second <= seconds; second++) {
      time += 1000
      taken = bytesAt(second)
      if (isTooSlow()) return second
    }
    return undefined
  }
  expect(
    lookFor(60, (second) => Math.floor(second / 7) * 1_400_000),
    'a lump each seven seconds',
  ).toBeUndefined()
  time += 60_000
  expect(
    lookFor(9, () => 0),
    'nobody had looked for a minute',
  ).toBeUndefined()
  expect(
    lookFor(30, (second) => (second < 20 ? undefined : 1)),
    'nothing waits for the client',
  ).toBe(29)
  time += 60_000
  expect(
    lookFor(30, (second) => second * 60_000),
    'a little, steadily',
  ).toBe(11)
})

it('eight large answers of a workspace wait for their turn, and a ninth is refused at once (OP-192)', async () => {
  const { caller, ids } = await withTexts([8 * 1024 * 1024, 4 * 1024 * 1024])
  const path = `/v1/texts/${ids[1]}`
  const slow = await openAnswer(caller, `/v1/texts/${ids[0]}`)
  const statuses: number[] = []
  const answers = Array.from({ length: 9 }, async () => {
    const { status } = await send('GET', path, { caller })
    statuses.push(status)
    slow.destroy()
  })
  await Promise.all(answers)
  expect(statuses).toEqual([429, ...Array(8).fill(200)])
})

it('an answer below the bound is read once, by one statement', async () => {
  const { caller, ids } = await withTexts([LARGE_BYTES - 100])
  expect((await send('GET', `/v1/texts/${ids[0]}`, { caller })).status).toBe(200)
  expect(reads.filter((id) => id === caller.workspaceId)).toHaveLength(1)
})
