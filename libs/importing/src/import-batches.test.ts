import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, test, vi } from 'vitest'
import { importBatches } from './import-batches.ts'
import type { Importer } from './importer.ts'
import { appliedBatches } from './testing/import-batches.ts'

const slow: Importer = {
  async *plan(tx) {
    yield await tx`select pg_sleep(0.05)`
  },
  write: async () => undefined,
  undo: { order: 'CREATED_FIRST', kept: () => [], undo: async () => [] },
}
const batches = importBatches({ name: 'catalog.imports', importers: { stock: slow }, wake: () => undefined })
const { run } = appliedBatches(await testDatabase('catalog'), batches)

/** Whether the consumer takes the next batch at once. */
async function isNextAtOnce(): Promise<boolean> {
  const pauses = vi.spyOn(globalThis, 'setTimeout')
  await (batches.batchSize as () => Promise<number>)()
  return pauses.mock.calls.length === 0
}

test('while requests come, an import rests after a batch, else not at all', async () => {
  // Requests and rests of tests before are over.
  const now = performance.now() + 60_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  expect(await isNextAtOnce()).toBe(true)
  clock.mockRestore()
  noteRequest()
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  noteRequest()
  expect(await isNextAtOnce()).toBe(false)
})
