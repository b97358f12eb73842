import type { ImportReport, ReportedError } from '@backoffice/contracts/import.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeEach, expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'

const { admin, importIn, send, takeStatements } = await importsApi()
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
})

const errorOf = (row: number): ReportedError => ({
  row,
  column: 'sku',
  code: 'conflict',
  message: 'is taken',
  value: 'A',
})
const errorsOf = (from: number, length: number, step = 1) => Array.from({ length }, (_, n) => errorOf(from + n * step))

/** An import with these errors of its validation, and of each batch that was applied. */
async function anImport(found: readonly ReportedError[], batches: readonly (readonly ReportedError[])[] = []) {
  const { workspaceId } = caller
  const id = await importIn('COMPLETED_WITH_ERRORS', caller, { valid: 5000, invalid: found.length })
  const empty = { count: 0, rows: [] }
  await admin`
    insert into import_finding (workspace_id, import_id, errors, diff)
    values (${workspaceId}, ${id}, ${admin.json(found.slice(0, 1000))}, ${admin.json({ create: empty, update: empty, unchanged: empty })})`
  for (const [batch, errors] of batches.entries()) {
    await admin`
      insert into import_batch (workspace_id, import_id, batch, first_byte, bytes, rows, created, updated, failed, errors)
      values (${workspaceId}, ${id}, ${batch}, 0, 1, 500, 0, 0, ${errors.length}, ${admin.json(errors)})`
  }
  await admin`update import set failed = ${batches.flat().length} where id = ${id}`
  return id
}

const report = async (id: string) => (await send<ImportReport>(caller, 'GET', `/v1/imports/${id}/errors`)).body

it('shows the errors of the validation and of the applying in the order of the rows (OP-52)', async () => {
  const { status, summary } = await report(
    await anImport([errorOf(3), errorOf(9)], [[errorOf(2), errorOf(5)], [errorOf(8)]]),
  )
  expect(summary.errors.map(({ row }) => row)).toEqual([2, 3, 5, 8, 9])
  expect([status, summary]).toMatchObject([
    'COMPLETED_WITH_ERRORS',
    { total_rows: 5002, valid_rows: 5000, invalid_rows: 2, failed: 3, errors_truncated: false },
  ])
})

it('shows the first 1,000 of both together, in four statements at most', async () => {
  const id = await anImport(errorsOf(2, 900, 2), [errorsOf(3, 500, 2), errorsOf(1003, 400, 2), errorsOf(3001, 400)])
  takeStatements()
  const { summary } = await report(id)
  expect(takeStatements().filter((text) => !/^\s*(begin|commit|select set_config)/.test(text)).length).toBeLessThan(5)
  expect(summary.errors.map(({ row }) => row)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 2))
  expect(summary.errors_truncated).toBe(true)
})

it('shows all of 1,000 errors, and says that none is left out', async () => {
  const { summary } = await report(await anImport(errorsOf(2, 500), [errorsOf(502, 500)]))
  expect([summary.errors.length, summary.errors_truncated]).toEqual([1000, false])
})

it('shows why an import FAILED as an error of row 1', async () => {
  const id = await anImport(errorsOf(2, 1000))
  await admin`update import set status = 'FAILED', failure = 'batch 3 could not be applied' where id = ${id}`
  const { summary } = await report(id)
  expect(summary.errors[0]).toEqual({
    row: 1,
    column: '',
    code: 'unprocessable',
    message: 'batch 3 could not be applied',
    value: null,
  })
  expect([summary.errors.length, summary.errors_truncated]).toEqual([1000, true])
})
