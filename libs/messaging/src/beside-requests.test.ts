import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { beforeEach, expect, test, vi } from 'vitest'
import { rowsAtOnce } from './beside-requests.ts'
import { importBatches } from './import-batches.ts'
import type { Importer } from './importer.ts'
import { appliedBatches } from './testing/import-batches.ts'

const TOOK_MS = 150

const slow: Importer = {
  async *plan(tx) {
    yield await tx`select pg_sleep(${TOOK_MS / 1000})`
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

/** Milliseconds until the consumer takes the next batch. */
async function untilNext(): Promise<number> {
  const startedAt = Date.now()
  expect(await (batches.batchSize as () => Promise<number>)()).toBe(1)
  return Date.now() - startedAt
}

test('while requests come, an import writes fewer rows at once', () => {
  expect(rowsAtOnce(500)).toBe(500)
  noteRequest()
  expect([rowsAtOnce(500), rowsAtOnce(3)]).toEqual([100, 3])
})

test('while requests come, an import pauses after a batch as long as the batch took, else not at all', async () => {
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  expect(await untilNext()).toBeLessThan(TOOK_MS / 2)
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  noteRequest()
  expect(await untilNext()).toBeGreaterThanOrEqual(TOOK_MS - 10)
  expect(await untilNext()).toBeLessThan(TOOK_MS / 2)
})
