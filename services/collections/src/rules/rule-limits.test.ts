import type { Collection } from '@backoffice/contracts/collection.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { applyImportBatches } from '../imports/importers.ts'
import { collectionsService } from '../testing/collections-api.ts'

const service = await collectionsService()
const { admin, send, create } = service
const { outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const MOST = 4 * 1024 * 1024
const rules = (text: string) => ({ match: 'all', conditions: [{ field: 'sku', operator: 'eq', value: text }] })
const ROOM = JSON.stringify(rules('x')).length

/** A workspace whose SMART collections leave room for rules of one letter. */
async function nearlyFull() {
  const caller = aCaller()
  const large = await create(caller, { membership_type: 'SMART', rules: rules('x') })
  await admin`update collection set rules = to_json(repeat('x', ${MOST - ROOM - 2})) where id = ${large.id}`
  return { caller, large }
}
const post = (caller: Caller, body: object) => send(caller, 'POST', '/v1/collections', { name: 'Sale', ...body })
const put = (caller: Caller, { id }: Pick<Collection, 'id'>, body: object) =>
  send(caller, 'PUT', `/v1/collections/${id}`, body)
const smart = (text: string) => ({ membership_type: 'SMART', rules: rules(text) })
const refused = {
  status: 422,
  headers: { 'error-reason': 'limit_reached' },
  body: { error: { code: 'unprocessable' } },
}

it('the rules of a workspace have at most 4 MiB (OP-311)', async () => {
  const { caller } = await nearlyFull()
  const tooLong = await post(caller, smart('xy'))
  expect(tooLong).toMatchObject(refused)
  expect(tooLong.body.error.message).toBe(
    `rules: with those of other collections they would have ${MOST + 1} bytes, and a workspace may have ${MOST}; shorten lists of values, or delete collections`,
  )
  expect((await post(caller, smart('x'))).status).toBe(201)
  expect(await post(caller, smart('x'))).toMatchObject(refused)
  expect((await post(caller, {})).status).toBe(201)
  expect((await post(aCaller(), smart('x'))).status).toBe(201)
})

/** A workspace with so many SMART collections. */
async function withSmart(count: number) {
  const caller = aCaller()
  const first = await create(caller, { membership_type: 'SMART', rules: rules('x') })
  await admin`
    insert into collection (workspace_id, id, handle, name, sort_order, membership_type, rules, published, created_at, updated_at)
    select workspace_id, uuidv7(), 'copy-' || n, name, sort_order, membership_type, rules, published, created_at, updated_at
    from collection cross join generate_series(1, ${count - 1}::integer) as n where id = ${first.id}`
  return { caller, first }
}

it('a workspace has at most 5,000 SMART collections (OP-311)', async () => {
  const { caller, first } = await withSmart(4999)
  expect((await post(caller, smart('x'))).status).toBe(201)
  const tooMany = await post(caller, smart('x'))
  expect(tooMany).toMatchObject(refused)
  expect(tooMany.body.error.message).toBe(
    'membership_type: a workspace may have 5000 SMART collections; delete some, or make this one MANUAL',
  )
  const manual = await create(caller, {})
  expect(await put(caller, manual, smart('x'))).toMatchObject(refused)
  expect((await put(caller, first, { rules: rules('longer') })).status).toBe(200)
  const row = { handle: 'a', name: 'Sale', membership_type: 'SMART', rules: JSON.stringify(rules('x')) }
  expect(await outcomes(caller, 'collections', [row])).toMatchObject([expect.stringContaining('5000 SMART')])
  expect((await put(caller, first, { membership_type: 'MANUAL' })).status).toBe(200)
  expect((await put(caller, manual, smart('x'))).status).toBe(200)
})

it('a collection keeps rules of the same length or shorter ones, and a MANUAL one leaves its room to others', async () => {
  const { caller, large } = await nearlyFull()
  const other = await create(caller, smart('x'))
  expect(await put(caller, other, { rules: rules('xy') })).toMatchObject(refused)
  expect((await put(caller, other, { rules: rules('y'), sort_order: 'TITLE_ASC' })).status).toBe(200)
  expect((await put(caller, large, { membership_type: 'MANUAL' })).status).toBe(200)
  expect((await put(caller, other, { rules: rules('xy') })).status).toBe(200)
  expect(await put(caller, large, { membership_type: 'SMART' })).toMatchObject(refused)
})

it('of rows of an import those fail that have no room left', async () => {
  const { caller } = await nearlyFull()
  const row = (handle: string) => ({
    handle,
    name: 'Sale',
    membership_type: 'SMART',
    rules: JSON.stringify(rules('x')),
  })
  expect(await outcomes(caller, 'collections', [row('a'), row('b'), { handle: 'c', name: 'Sale' }])).toMatchObject([
    'created',
    expect.stringContaining('rules'),
    'created',
  ])
})
