import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { asApplied, importChecks } from '@backoffice/importing/testing/import-checks.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { customersApi } from '../customers/testing/customers-api.ts'
import { applyImportBatches, importers } from './importers.ts'

const service = await customersApi()
const { admin, create, takeStatements } = service
const { allRows, checked, request } = importChecks(service, importers)
const { outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const ada = { email: 'Ada@Example.com', firstname: 'Ada', lastname: 'Byron', note: 'VIP' }
const SAMPLES: [row: object, outcome: string][] = [
  [{ email: 'eve@example.com', firstname: 'Eve' }, 'created'],
  [{ ...ada, lastname: 'King' }, 'updated'],
  [{ email: 'bob@example.com', phone: '1' }, 'unchanged'],
  [{ email: 'EVE@example.com', firstname: 'Eve' }, 'email duplicate: row 2 has it already'],
  [{ email: 'kim@example.com' }, 'firstname bad_request: is required for a new customer'],
  [{ email: 'kim', firstname: 'Kim' }, 'email bad_request: must be an e-mail address, such as ada@example.com'],
]
const [rows, expected] = [SAMPLES.map(([row]) => row), SAMPLES.map(([, outcome]) => outcome)]

async function aShop() {
  const caller = aCaller()
  await create(caller, ada)
  await create(caller, { email: 'Bob@example.com', firstname: 'Bob', phone: '1' })
  return caller
}

test('a check says what each row would do, changes nothing, and applying the rows does the same', async () => {
  const caller = await aShop()
  const before = await allRows()
  expect(await checked(caller, 'customers', rows)).toEqual(expected)
  expect(await allRows()).toEqual(before)
  expect(await outcomes(caller, 'customers', rows)).toEqual(asApplied(expected))
  expect(await checked(caller, 'customers', rows.slice(0, 3))).toEqual(['unchanged', 'unchanged', 'unchanged'])
})

test('a check waits for no transaction that has locked the customers', async () => {
  const caller = await aShop()
  await admin.begin(async (tx) => {
    await tx`select from customer where workspace_id = ${caller.workspaceId} for update`
    expect(await checked(caller, 'customers', rows)).toEqual(expected)
  })
})

test('a check knows the customers of its own workspace alone', async () => {
  await aShop()
  expect(await checked(aCaller(), 'customers', [ada])).toEqual(['created'])
})

test.each([1, 500])('a check of %i customers sends one statement in its transaction', async (count) => {
  const customers = Array.from({ length: count }, (_, n) => ({ email: `user.${n}@example.com`, firstname: 'Ada' }))
  takeStatements()
  expect(await checked(aCaller(), 'customers', customers)).toEqual(customers.map(() => 'created'))
  expect(takeStatements().filter((text) => /\bfrom\b/.test(text))).toHaveLength(1)
})

test('a check of rows of another service is unprocessable', async () => {
  const { status, body } = await request(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  expect([status, body.error.message]).toEqual([422, 'template: "stock" belongs to another service'])
})
