import { createLogger } from '@backoffice/runtime/logger.ts'
import { expectKeptByWrongClock } from '@backoffice/testing/wrong-clock.ts'
import { expect, it } from 'vitest'
import { inImport } from '../imports/import-row.ts'
import type { WorkerContext } from '../imports/worker-context.ts'
import { type StoredImport, storedImports } from '../testing/stored-imports.ts'
import { emptyExpired, expireKeptRows } from './expire-kept-rows.ts'
import { findUndo } from './get-undo.ts'

const { add, admin, db, worker, storage } = await storedImports()
const logger = createLogger('test', 'silent')

/** An import whose undo kept a row, and was last stepped so long ago by the clock of the database. */
async function undone(ago: string, template: string, status = 'DONE') {
  const stored = await add({ columns: { template, ended_at: new Date() } })
  const rows = JSON.stringify([
    { key: template === 'customers' ? 'ada@example.com' : 'MUG', reason: 'was changed since the import' },
  ])
  await admin`
    insert into import_undo (workspace_id, import_id, status, kept, kept_rows, stepped_at)
    values (${stored.workspaceId}, ${stored.id}, ${status}, 1, ${rows}::text::json, now() - ${ago}::interval)`
  return stored
}
const shown = (undo: StoredImport) => inImport(db, undo, (tx) => findUndo(tx, undo.id))

it('the list of kept customers is empty three days after the undo, and still says how many (OP-130)', async () => {
  const [done, failed] = [await undone('3 days 1 minute', 'customers'), await undone('4 days', 'customers', 'FAILED')]
  const young = await undone('2 days 23 hours', 'customers')
  expect(await emptyExpired({ db, worker, logger })).toBe(2)
  expect(await shown(done)).toMatchObject({ status: 'DONE', kept: 1, rows: [] })
  expect(await shown(failed)).toMatchObject({ status: 'FAILED', kept: 1, rows: [] })
  expect(await shown(young)).toMatchObject({ kept: 1, rows: [{ key: 'ada@example.com' }] })
  expect(await emptyExpired({ db, worker, logger })).toBe(0)
})

it('empties no list while the clocks of the database and the host are more than a day apart, which counts as a failure', async () => {
  const old = await undone('4 days', 'customers')
  await expectKeptByWrongClock(
    () => expireKeptRows({ db, worker, storage, logger } as WorkerContext),
    async () => (await shown(old))?.rows.length === 1,
  )
})

it('the list of another template stays as long as its import', async () => {
  const products = await undone('4 days', 'products')
  expect(await emptyExpired({ db, worker, logger })).toBe(0)
  expect(await shown(products)).toMatchObject({ rows: [{ key: 'MUG' }] })
})
