import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { beforeEach, expect, test, vi } from 'vitest'
import { importBatches, rowsPerStatement } from './import-batches.ts'
import type { Importer } from './importer.ts'
import { appliedBatches } from './testing/import-batches.ts'

const slow: Importer = {
  async *plan(tx) {
    yield await tx`select pg_sleep(0.15)`
  },
  write: async () => undefined,
  undo: { order: 'CREATED_FIRST', kept: () => [], undo: async () => [] },
}
const batches = importBatches({ name: 'catalog.imports', importers: { stock: slow }, wake: () => undefined })
const { run } = appliedBatches(await testDatabase('catalog'), batches)

beforeEach(() => {
  // Requests of the test before are not recent any more.
  vi.spyOn(performance, 'now').mockImplementation(now(performance.now() + 60_000))
})

/** A clock that goes on from this time. */
function now(from: number): () => number {
  const startedAt = Date.now()
  return () => from + Date.now() - startedAt
}

/** Whether the consumer takes the next batch at once, without a pause. */
const isNextAtOnce = (): Promise<boolean> =>
  Promise.race([
    (batches.batchSize as () => Promise<number>)().then(() => true),
    new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
  ])

test('while requests come, an import writes fewer rows at once', () => {
  expect(rowsPerStatement(500)).toBe(500)
  noteRequest()
  expect([rowsPerStatement(500), rowsPerStatement(3)]).toEqual([100, 3])
})

test('while requests come, an import pauses after a batch, else not at all', async () => {
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  expect(await isNextAtOnce()).toBe(true)
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  noteRequest()
  expect(await isNextAtOnce()).toBe(false)
})
