import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expectKeptByWrongClock } from '@backoffice/testing/wrong-clock.ts'
import { afterAll, expect, it } from 'vitest'
import {
  CHUNK_SIZE,
  deleteBatches,
  deleteBegun,
  deleteRestored,
  deleteUndone,
  expireImportedChanges,
} from './expire-imported-changes.ts'

const { admin, workerUrl } = await testDatabase('orders')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
afterAll(() => worker.stop?.())
/** Returns how many batches. */
async function deleteExpired(): Promise<number> {
  await deleteUndone(worker.sql)
  return deleteBatches(worker.sql)
}

it('deletes what is kept of imports for more than three days, in every workspace, and no other (OP-151)', async () => {
  for (const age of ['4 days', '73 hours', '71 hours', '0 hours']) {
    const own = { workspace_id: randomUUID(), import_id: randomUUID() }
    await admin`
      insert into imported_batch (workspace_id, import_id, applied_at, changes)
      values (${own.workspace_id}, ${own.import_id}, now() - ${age}::interval, '[]')`
    await admin`
      insert into undone_import (workspace_id, import_id, stepped_at)
      values (${own.workspace_id}, ${own.import_id}, now() - ${age}::interval)`
    await admin`insert into undone_change ${admin({ ...own, id: randomUUID(), key: age })}`
  }
  expect(await deleteExpired()).toBe(2)
  const left = await admin`select key from undone_change order by key`
  expect(left.map(({ key }) => key)).toEqual(['0 hours', '71 hours'])
  expect(await admin`select from imported_batch`).toHaveLength(2)
  expect(await deleteExpired()).toBe(0)
})

it('an import with a batch of the last three days keeps those before, so that it is not undone in part', async () => {
  const own = { workspace_id: randomUUID(), import_id: randomUUID() }
  const batch = (age: string) => admin`
    insert into imported_batch (workspace_id, import_id, applied_at, changes)
    values (${own.workspace_id}, ${own.import_id}, now() - ${age}::interval, '[]')`
  await batch('73 hours')
  await batch('71 hours')
  expect(await deleteExpired()).toBe(0)
  await admin`update imported_batch set applied_at = applied_at - interval '2 hours' where import_id = ${own.import_id}`
  // Of an undo that has failed, and may be asked for again.
  await admin`
    insert into undone_import (workspace_id, import_id, stepped_at)
    values (${own.workspace_id}, ${own.import_id}, now() - interval '71 hours')`
  expect(await deleteExpired()).toBe(0)
  await admin`delete from undone_import where import_id = ${own.import_id}`
  expect(await deleteExpired()).toBe(2)
})

it('the changes of an undo, and the versions it gave, are deleted in pieces: none of its statements grows with them', async () => {
  const own = { workspace_id: randomUUID(), import_id: randomUUID() }
  const many = CHUNK_SIZE + 1
  await admin`insert into undone_import ${admin({ ...own, stepped_at: new Date(Date.now() - 4 * 86_400_000) })}`
  await admin`
    insert into undone_change (workspace_id, import_id, id, key)
    select ${own.workspace_id}, ${own.import_id}, gen_random_uuid(), n from generate_series(1, ${many}::integer) as n`
  await admin`
    insert into restored_version (workspace_id, id, version, same_as, restored_at)
    select ${own.workspace_id}, gen_random_uuid(), '2', '1', now() - interval '4 days' from generate_series(1, ${many}::integer)`
  const left = async (table: string) =>
    (await admin`select from ${admin(table)} where workspace_id = ${own.workspace_id}`).length
  expect(await deleteUndone(worker.sql)).toBe(CHUNK_SIZE)
  expect([await left('undone_import'), await left('undone_change')]).toEqual([1, 1])
  expect(await deleteUndone(worker.sql)).toBe(1)
  expect([await left('undone_import'), await left('undone_change')]).toEqual([0, 0])
  expect([await deleteRestored(worker.sql), await deleteRestored(worker.sql)]).toEqual([CHUNK_SIZE, 1])
})

it('deletes batches that went to the dead letters before their last rows, once their topic keeps them no longer', async () => {
  for (const age of ['31 days', '29 days'])
    await admin`
      insert into begun_batch (workspace_id, import_id, batch, rows, begun_at)
      values (${randomUUID()}, ${randomUUID()}, 0, '[]', now() - ${age}::interval)`
  expect(await deleteBegun(worker.sql)).toBe(1)
  expect(await admin`select from begun_batch`).toHaveLength(1)
})

it('deletes nothing while the clocks of the database and the host are more than a day apart, which counts as a failure', async () => {
  const own = { workspace_id: randomUUID(), import_id: randomUUID() }
  await admin`
    insert into imported_batch (workspace_id, import_id, applied_at, changes)
    values (${own.workspace_id}, ${own.import_id}, now() - interval '4 days', '[]')`
  await expectKeptByWrongClock(
    () => expireImportedChanges(worker, createLogger('test', 'silent')),
    async () => (await admin`select from imported_batch where import_id = ${own.import_id}`).length > 0,
  )
})
