import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { asApplied, importChecks } from '@backoffice/importing/testing/import-checks.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { collectionsService } from '../testing/collections-api.ts'
import { applyImportBatches, importers } from './importers.ts'

const service = await collectionsService()
const { admin, takeStatements } = service
const { allRows, checked } = importChecks(service, importers)
const { outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
const rules = JSON.stringify(inStock)
const KNOWN = [
  { handle: 'summer', name: 'Summer', membership_type: 'SMART', rules, sort_order: 'STOCK_DESC' },
  { handle: 'winter', name: 'Winter', publish_at: '2026-02-01T00:00:00Z' },
]
const SAMPLES: [row: object, outcome: string][] = [
  [{ handle: 'spring', name: 'Spring', membership_type: 'SMART', rules }, 'created'],
  [{ handle: 'autumn', name: 'Autumn' }, 'created'],
  [{ ...KNOWN[0], sort_order: 'MANUAL' }, 'updated'],
  [{ handle: 'winter', publish_at: '2026-02-01T02:00:00+02:00' }, 'unchanged'],
  [{ handle: 'winter', name: 'W' }, 'handle duplicate: row 5 has it already'],
  [{ handle: 'none' }, 'name bad_request: is required for a new collection'],
  [
    { handle: 'smart', name: 'S', membership_type: 'SMART' },
    'rules bad_request: is required when membership_type is SMART',
  ],
  [
    { handle: 'late', name: 'L', publish_at: '2026-02-01T00:00:00Z', unpublish_at: '2026-01-01T00:00:00Z' },
    'unpublish_at unprocessable: must be later than publish_at',
  ],
]
const [rows, expected] = [SAMPLES.map(([row]) => row), SAMPLES.map(([, outcome]) => outcome)]

async function aShop() {
  const caller = aCaller()
  await outcomes(caller, 'collections', KNOWN)
  return caller
}

test('a check says what each row would do, changes nothing, and applying the rows does the same', async () => {
  const caller = await aShop()
  const before = await allRows()
  expect(await checked(caller, 'collections', rows)).toEqual(expected)
  expect(await allRows()).toEqual(before)
  expect(await outcomes(caller, 'collections', rows)).toEqual(asApplied(expected))
  expect(await checked(caller, 'collections', rows.slice(0, 4))).toEqual(Array(4).fill('unchanged'))
})

test('a check waits for no transaction that has locked the collections and their members', async () => {
  const caller = await aShop()
  await admin.begin(async (tx) => {
    await lockMembershipsExclusive(tx, caller.workspaceId)
    await tx`select from collection where workspace_id = ${caller.workspaceId} for update`
    expect(await checked(caller, 'collections', rows)).toEqual(expected)
  })
})

test('a check knows the collections of its own workspace alone', async () => {
  await aShop()
  expect(await checked(aCaller(), 'collections', KNOWN)).toEqual(['created', 'created'])
})

test.each([1, 500])('a check of %i collections sends one statement in its transaction', async (count) => {
  const collections = Array.from({ length: count }, (_, n) => ({ handle: `new-${n}`, name: 'New', rules }))
  takeStatements()
  expect(await checked(aCaller(), 'collections', collections)).toEqual(collections.map(() => 'created'))
  expect(takeStatements().filter((text) => /\bfrom\b/.test(text))).toHaveLength(1)
})
