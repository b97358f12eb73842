import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterAll, expect, it } from 'vitest'
import { deleteExpired } from './expire-imported-changes.ts'

const { admin, workerUrl } = await testDatabase('orders')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
afterAll(() => worker.stop?.())

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
  expect(await deleteExpired(worker)).toBe(2)
  const left = await admin`select key from undone_change order by key`
  expect(left.map(({ key }) => key)).toEqual(['0 hours', '71 hours'])
  expect(await admin`select from imported_batch`).toHaveLength(2)
  expect(await deleteExpired(worker)).toBe(0)
})

it('an import with a batch of the last three days keeps those before, so that it is not undone in part', async () => {
  const own = { workspace_id: randomUUID(), import_id: randomUUID() }
  const batch = (age: string) => admin`
    insert into imported_batch (workspace_id, import_id, applied_at, changes)
    values (${own.workspace_id}, ${own.import_id}, now() - ${age}::interval, '[]')`
  await batch('73 hours')
  await batch('71 hours')
  expect(await deleteExpired(worker)).toBe(0)
  await admin`update imported_batch set applied_at = applied_at - interval '2 hours' where import_id = ${own.import_id}`
  // Of an undo that has failed, and may be asked for again.
  await admin`
    insert into undone_import (workspace_id, import_id, stepped_at)
    values (${own.workspace_id}, ${own.import_id}, now() - interval '71 hours')`
  expect(await deleteExpired(worker)).toBe(0)
  await admin`delete from undone_import where import_id = ${own.import_id}`
  expect(await deleteExpired(worker)).toBe(2)
})
