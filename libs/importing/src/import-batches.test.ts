import { backgroundWork } from '@backoffice/runtime/give-way.ts'
import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import { importBatches } from './import-batches.ts'
import type { Importer } from './importer.ts'
import { appliedBatches } from './testing/import-batches.ts'

/** Rests of tests before are over. The clock moves with what takes time here. */
let now = performance.now() + 60_000
const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
whenDone(() => {
  clock.mockRestore()
  // What the files of this worker have in common is not left a minute ahead.
  noteRequest()
  backgroundWork().end()
})

const slow: Importer = {
  async *plan(tx) {
    now += 50
    yield await tx`select`
  },
  write: async () => undefined,
  undo: { order: 'CREATED_FIRST', kept: () => [], undo: async () => [] },
}
const rowByRow: Importer = {
  ...slow,
  async *plan(_tx, { rows }, outcomes) {
    yield await outcomes.attempts(rows, () => undefined)
  },
}
const importers = { stock: slow, products: rowByRow }
const batches = importBatches({ name: 'catalog.imports', importers, wake: () => undefined })
const noteProgress = vi.fn()
const { run } = appliedBatches(await testDatabase('catalog'), batches, noteProgress)

/** How long the consumer rests before it takes the next batch, in milliseconds. */
async function restOf(): Promise<number> {
  const [startedAt, begin] = [now, setTimeout]
  const pauses = vi.spyOn(globalThis, 'setTimeout').mockImplementation((call, ms = 0) => {
    now += ms
    return begin(call, 0)
  })
  await (batches.batchSize as () => Promise<number>)()
  pauses.mockRestore()
  return now - startedAt
}

test('while requests come, an import rests after a batch for longer than it took, else not at all', async () => {
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  expect(await restOf()).toBe(0)
  noteRequest()
  await run(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])
  noteRequest()
  expect(await restOf()).toBeGreaterThanOrEqual(50)
})

test('a batch notes progress with each of its rows', async () => {
  noteProgress.mockClear()
  await run(aCaller(), 'products', [{}, {}, {}])
  expect(noteProgress).toHaveBeenCalledTimes(3)
})
