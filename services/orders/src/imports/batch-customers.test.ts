import { randomUUID } from 'node:crypto'
import type { BatchResult } from '@backoffice/contracts/batches.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { customersApi } from '../customers/testing/customers-api.ts'

const { admin, send, create, list, recordsOf, takeStatements } = await customersApi()

async function batch(caller: Caller, rows: readonly unknown[], headers = {}): Promise<BatchResult[]> {
  const { status, body } = await send<{ results: BatchResult[] }>(
    caller,
    'POST',
    '/v1/customers/batch',
    { rows },
    headers,
  )
  expect([status, body.results?.length]).toEqual([200, rows.length])
  return body.results
}

const outcome = ({ status, error }: BatchResult) => (error === null ? status : `${error.code} ${error.message}`)
const outcomes = async (caller: Caller, rows: readonly unknown[]) => (await batch(caller, rows)).map(outcome)

const customers = (count: number, members: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ email: `customer.${n}@example.com`, firstname: 'Ada', ...members }))

it('creates customers, and updates those that have the address, with their events (OP-275)', async () => {
  const caller = aCaller()
  const ada = await create(caller, { email: 'ada@example.com', note: 'x' })
  const rows = [
    { email: 'ADA@example.com', note: null, phone: '1' },
    { email: 'eve@example.com', firstname: 'Eve' },
    { firstname: 'Nobody' },
    { firstname: 'Nobody' },
    { email: 'EVE@example.com', firstname: 'Other' },
  ]
  const results = await batch(caller, rows)
  expect(results.map(outcome)).toEqual([
    'updated',
    'created',
    'created',
    'created',
    'conflict email: rows[1] has it already',
  ])
  expect(results[0]?.id).toBe(ada.id)
  const { items } = await list(caller)
  expect(items.find(({ id }) => id === ada.id)).toMatchObject({ email: 'ada@example.com', note: null, phone: '1' })
  const types = async (index: number) => (await recordsOf(results[index]?.id ?? '')).map(({ type }) => type)
  expect([await types(0), await types(1)]).toEqual([['customer.created', 'customer.updated'], ['customer.created']])
  expect(await outcomes(caller, rows.slice(0, 2))).toEqual(['unchanged', 'unchanged'])
  expect(await types(0)).toHaveLength(2)
})

it.each([
  ['no firstname', {}],
  ['a blank firstname', { firstname: ' ' }],
  ['no address', { firstname: 'Ada', email: 'ada' }],
  ['an unknown member', { firstname: 'Ada', age: 3 }],
])('a row of a new customer with %s gets the error of POST /v1/customers', async (_what, members) => {
  const caller = aCaller()
  const body = { email: 'eve@example.com', ...members }
  const { error } = (await send(caller, 'POST', '/v1/customers', body)).body
  expect(await outcomes(caller, [body, ...customers(1)])).toEqual([`${error.code} ${error.message}`, 'created'])
})

it.each([
  ['null for a firstname', { firstname: null }],
  ['an unknown member', { age: 3 }],
])('a row of a known customer with %s gets the error of PUT', async (_what, members) => {
  const caller = aCaller()
  const { id, email } = await create(caller, { email: 'eve@example.com' })
  const body = { email, note: 'x', ...members }
  const { error } = (await send(caller, 'PUT', `/v1/customers/${id}`, body)).body
  expect(await outcomes(caller, [body, ...customers(1)])).toEqual([`${error.code} ${error.message}`, 'created'])
})

it('updates only for a key that may update', async () => {
  const caller = aCaller({ scopes: ['customer::create'] })
  await create(caller, { email: 'customer.0@example.com' })
  expect(await outcomes(caller, customers(2, { note: 'x' }))).toEqual([
    'insufficient_scope API key lacks required scope: customer::update',
    'created',
  ])
})

it('is applied once when it is sent again with its Idempotency-Key (OP-08)', async () => {
  const caller = aCaller()
  const [rows, headers] = [[{ firstname: 'Nobody' }, ...customers(2)], { 'idempotency-key': 'once' }]
  const first = await batch(caller, rows, headers)
  expect(await batch(caller, rows, headers)).toEqual(first)
  expect((await list(caller)).total).toBe(3)
})

it('takes as many statements for each hundred rows', async () => {
  const statementsOf = async (count: number) => {
    const caller = aCaller()
    await batch(caller, customers(count / 2))
    takeStatements()
    await batch(caller, customers(count, { note: 'x' }))
    return takeStatements().length
  }
  const [of2, of100, of1000] = [await statementsOf(2), await statementsOf(100), await statementsOf(1000)]
  expect(of100).toBe(of2)
  expect((of1000 - of100) / 9).toBeLessThanOrEqual(4)
})

it('makes each customer once when two batches have the same rows in opposite orders', async () => {
  const caller = aCaller()
  const rows = customers(250)
  await Promise.all([batch(caller, rows), batch(caller, rows.toReversed())])
  expect(await admin`select from customer where workspace_id = ${caller.workspaceId}`).toHaveLength(250)
})

it('keeps what others change of a customer that was created while it waited for another one', async () => {
  const caller = aCaller()
  const { id } = await create(caller, { email: 'customer.0@example.com' })
  const other = await admin.reserve()
  whenDone(() => other.release())
  const waiting = (count: number) => async () => {
    const found = await admin`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and application_name = 'test'`
    return found.length === count
  }
  await other`begin`
  await other`
    insert into customer (workspace_id, id, firstname, email, created_at, updated_at)
    values (${caller.workspaceId}, ${randomUUID()}, 'Ada', 'customer.2@example.com', now(), now())`
  await other`savepoint before`
  await other`select from customer where id = ${id} for update`
  const sent = batch(caller, customers(3, { phone: '1' }))
  await eventually('the batch waits for the known customer', waiting(1))
  const created = await create(caller, { email: 'customer.1@example.com' })
  await other`rollback to before`
  const hasAddress = async () =>
    (
      await admin`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into customer%'`
    ).length === 1
  await eventually('the batch waits for the address of another one', hasAddress)
  let isChanged = false
  const change = send(caller, 'PUT', `/v1/customers/${created.id}`, { note: 'kept' }).finally(() => {
    isChanged = true
  })
  const hasMetTheBatch = waiting(2)
  await eventually('the change is made, or waits for the batch', async () => isChanged || hasMetTheBatch())
  await other`rollback`
  await Promise.all([sent, change])
  const { body } = await send(caller, 'GET', `/v1/customers/${created.id}`)
  expect(body).toMatchObject({ phone: '1', note: 'kept' })
})
