import type { Customer } from '@backoffice/contracts/customer.ts'
import { aBatch, appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it, test } from 'vitest'
import { type CustomerPage, customersApi } from '../customers/testing/customers-api.ts'
import { applyImportBatches } from './importers.ts'

const service = await customersApi()
const { admin, create, list, recordsOf, send, takeStatements } = service
const { apply, outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const importing = (caller: Caller, ...rows: object[]) => outcomes(caller, 'customers', rows)
const read = async (caller: Caller, id: string) => (await send<Customer>(caller, 'GET', `/v1/customers/${id}`)).body
const events = ({ workspaceId }: Caller) => admin`
  select from outbox where workspace_id = ${workspaceId} and topic = 'orders.events'`

/** Runs again what another transaction was in the way of, as the consumer does. */
async function again<Result>(work: () => Promise<Result>, attempts = 5): Promise<Result> {
  return work().catch((error) => {
    if (attempts === 1) throw error
    return again(work, attempts - 1)
  })
}

describe('a row with a new e-mail address (OP-131)', () => {
  it('creates a customer with every column of the template, the address kept as sent', async () => {
    const caller = aCaller()
    const row = { email: 'Ada@Example.com', firstname: 'Ada', lastname: 'Byron', phone: '+44 1', note: 'VIP' }
    expect(await importing(caller, row)).toEqual(['created'])
    expect((await list(caller)).items).toMatchObject([row])
    expect(await list(caller, 'query=byr%20example')).toMatchObject({ total: 1, items: [row] })
  })

  it('needs a firstname', async () => {
    const caller = aCaller()
    const rows = [
      { email: 'ada@example.com' },
      { email: 'eve@example.com', firstname: ' ' },
      { email: 'no address', firstname: 'A' },
    ]
    expect(await importing(caller, ...rows, { firstname: 'Ada' })).toEqual([
      'firstname bad_request: is required for a new customer',
      expect.stringContaining('firstname bad_request: '),
      'email bad_request: must be an e-mail address, such as ada@example.com',
      expect.stringContaining('email bad_request: '),
    ])
    expect((await list(caller)).total).toBe(0)
  })
})

describe('a row whose e-mail address a customer has (OP-55, OP-131)', () => {
  it('sets what it gives and leaves the rest, the spelling of the address too', async () => {
    const caller = aCaller()
    const before = await create(caller, { email: 'Ada@Example.com', lastname: 'Byron', phone: '1' })
    expect(await importing(caller, { email: 'aDA@example.COM', lastname: 'King', note: 'VIP' })).toEqual(['updated'])
    const after = await read(caller, before.id)
    expect(after).toEqual({ ...before, lastname: 'King', note: 'VIP', updated_at: after.updated_at })
    expect(after.updated_at > before.updated_at).toBe(true)
    expect((await list(caller, 'query=byron')).total).toBe(0)
    expect((await list(caller, 'query=king')).total).toBe(1)
  })

  it('counts as updated when it changes nothing, and leaves updated_at (OP-73)', async () => {
    const caller = aCaller()
    const before = await create(caller, { email: 'ada@example.com', lastname: 'Byron' })
    expect(await importing(caller, { email: 'ada@example.com', firstname: 'Ada' })).toEqual(['updated'])
    expect(await read(caller, before.id)).toEqual(before)
  })

  it('is not that of another workspace', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    const before = await create(other, { email: 'ada@example.com' })
    expect(await importing(caller, { email: 'ada@example.com', firstname: 'Eve' })).toEqual(['created'])
    expect(await read(other, before.id)).toEqual(before)
  })
})

test('of rows with the same address in one batch the first is applied, whatever their case (OP-56)', async () => {
  const caller = aCaller()
  const rows = ['ada@example.com', 'ADA@example.com', 'eve@example.com'].map((email, n) => ({
    email,
    firstname: `${n}`,
  }))
  expect(await importing(caller, ...rows)).toEqual(['created', 'email duplicate: row 2 has it already', 'created'])
  expect((await list(caller)).items.map(({ firstname }) => firstname)).toEqual(['2', '0'])
})

test('an import fires no event of a customer (OP-72)', async () => {
  const caller = aCaller()
  const { id } = await create(caller, { email: 'ada@example.com' })
  await importing(caller, { email: 'ada@example.com', note: 'x' }, { email: 'eve@example.com', firstname: 'Eve' })
  expect(await recordsOf(id)).toHaveLength(1)
  expect(await events(caller)).toHaveLength(1)
})

const rowsOf = (count: number, members: object) =>
  Array.from({ length: count }, (_, n) => ({ email: `customer.${n}@example.com`, firstname: 'Ada', ...members }))

test('the statements of a batch do not grow with its rows', async () => {
  const statementsOf = async (count: number) => {
    const caller = aCaller()
    await importing(caller, ...rowsOf(count / 2, {}))
    takeStatements()
    await importing(caller, ...rowsOf(count, { note: 'x' }))
    return takeStatements().length
  }
  expect(await statementsOf(500)).toBe(await statementsOf(2))
})

test('a batch that comes twice changes nothing the second time', async () => {
  const caller = aCaller()
  const batch = aBatch(caller, 'customers', rowsOf(20, {}))
  const first = await apply(batch)
  expect(first.map(({ status }) => status)).toEqual(Array(20).fill('created'))
  await admin`update customer set note = 'Changed since' where workspace_id = ${caller.workspaceId}`
  expect(await apply(batch)).toEqual(first)
  expect((await list(caller, 'limit=100')).items.map(({ note }) => note)).toEqual(Array(20).fill('Changed since'))
})

test('the same addresses from imports and clients at once make each customer once', async () => {
  const caller = aCaller()
  const rows = rowsOf(40, {})
  const [forth, back] = [aBatch(caller, 'customers', rows), aBatch(caller, 'customers', rows.toReversed())]
  const results = await Promise.all([
    again(() => apply(forth)),
    again(() => apply(back)),
    ...[0, 10, 20, 30].map((n) => send(caller, 'POST', '/v1/customers', rows[n])),
  ])
  const statuses = results.slice(0, 2).map((rows) => (rows as { status: string }[]).map(({ status }) => status))
  expect(statuses.flat().filter((status) => status === 'failed')).toEqual([])
  expect(results.slice(2).every((answer) => [201, 409].includes((answer as { status: number }).status))).toBe(true)
  const { total, items } = (await list(caller, 'limit=100')) satisfies CustomerPage
  expect([total, new Set(items.map(({ email }) => email)).size]).toEqual([40, 40])
})
