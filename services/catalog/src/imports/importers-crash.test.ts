import { randomUUID } from 'node:crypto'
import { consumedImports } from '@backoffice/importing/testing/consumed-imports.ts'
import { aBatch } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { applyImportBatches } from './importers.ts'

const imports = await consumedImports(
  'catalog',
  applyImportBatches(() => undefined),
)

test('a batch committed by a process killed before it committed the offset is neither applied nor answered again', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  const stocks = [3, 8].map((stock, batch) =>
    aBatch(caller, 'products', [{ sku: 'MUG', name: 'Mug', stock }], { importId, batch }),
  )
  await imports.send(...stocks)
  const script = new URL('./testing/crashing-consumer.ts', import.meta.url)
  expect(await imports.crash(script, 'AFTER_COMMIT')).toBe('SIGKILL')
  expect(await imports.answersOf(importId)).toHaveLength(1)
  // Told apart from what the import set it to, should the first batch be applied once more.
  await imports.admin`update variant set stock = 5 where workspace_id = ${caller.workspaceId}`

  await imports.startReplica()
  const answers = await imports.answered(importId, 2)
  expect(answers.map(({ batch, rows }) => [batch, rows[0]?.status])).toEqual([
    [0, 'created'],
    [1, 'updated'],
  ])
  const moved = await imports.admin`
    select delta, reason from stock_movement where workspace_id = ${caller.workspaceId} order by id`
  expect(moved.map(({ delta }) => delta)).toEqual(['3', '2', '3'])
})
