import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, test } from 'vitest'
import type { Importer } from './importer.ts'
import { importChecks } from './testing/import-checks.ts'

const database = await testDatabase('catalog')

/** An importer whose plan sends a statement that a check must not send. */
const planning = (statement: string): Importer => ({
  async *plan(tx) {
    yield await tx.unsafe(statement)
  },
  write: async () => undefined,
  undo: { order: 'CREATED_FIRST', kept: () => [], undo: async () => [] },
})

test.each([
  `insert into inbox (workspace_id, consumer, message_id)
    values (current_setting('app.workspace_id')::uuid, 'catalog.imports', '1')`,
  'select from product for no key update',
])('a check whose plan writes or locks rows fails: %s', async (statement) => {
  const { request, allRows } = importChecks(database, { stock: planning(statement) })
  const before = await allRows()
  expect((await request(aCaller(), 'stock', [{ sku: 'MUG', stock: 1 }])).status).toBe(503)
  expect(await allRows()).toEqual(before)
})
