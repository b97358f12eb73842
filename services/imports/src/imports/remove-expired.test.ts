import { createLogger } from '@backoffice/runtime/logger.ts'
import { expectKeptByWrongClock } from '@backoffice/testing/wrong-clock.ts'
import { expect, it } from 'vitest'
import { storedImports } from '../testing/stored-imports.ts'
import { removeBatch, removeExpired } from './remove-expired.ts'

const { add, admin, db, worker, storage, columnsOf, filesOf } = await storedImports()
const logger = createLogger('test', 'silent')
const remove = async () => (await removeBatch({ db, worker, storage, logger })).removed

/** An import whose last change was so long ago by the clock of the database. */
async function changed(ago: string, columns: Record<string, unknown>) {
  const one = await add({ batches: 2, columns })
  await admin`update import set updated_at = now() - ${ago}::interval where id = ${one.id}`
  return one
}
const ended = { status: 'COMPLETED', ended_at: new Date() }
const validated = { status: 'VALIDATED', started_at: null, ends_at_batch: null }

it('removes an import with its batches and all its files 30 days after its last change, by the clock of the database', async () => {
  const [old, young] = [await changed('30 days 1 minute', ended), await changed('29 days 23 hours', ended)]
  expect(await filesOf(old)).toHaveLength(4)
  expect(await remove()).toBe(1)
  expect([await columnsOf(old), await filesOf(old)]).toEqual([undefined, []])
  expect(await admin`select from import_batch where import_id = ${old.id}`).toHaveLength(0)
  expect(await columnsOf(young)).toMatchObject({ status: 'COMPLETED' })
  expect(await filesOf(young)).toHaveLength(4)
  expect(await remove()).toBe(0)
})

it('removes nothing while the clocks of the database and the host are more than a day apart, which counts as a failure', async () => {
  const old = await changed('31 days', ended)
  await expectKeptByWrongClock(
    () => removeExpired({ db, worker, storage, logger }),
    async () => (await columnsOf(old)) !== undefined,
  )
})

it('removes what a claim has left, whose files the next one could not remove since the storage was away', async () => {
  const old = await changed('31 days', ended)
  await admin`update import set claim = uuidv7() where id = ${old.id}`
  expect(await filesOf(old)).toHaveLength(4)
  await remove()
  expect(await filesOf(old)).toEqual([])
})

it('gives back the bytes of the files', async () => {
  const old = await changed('31 days', ended)
  await admin`update import set findings_bytes = 90 where id = ${old.id}`
  const young = await add({ workspaceId: old.workspaceId, columns: { bytes: 7 } })
  const stored = async () => admin`select bytes::integer from stored_bytes where workspace_id = ${young.workspaceId}`
  expect(await stored()).toEqual([{ bytes: 107 }])
  await remove()
  expect(await stored()).toEqual([{ bytes: 7 }])
})

it('removes an import that was never started, and never one that is being applied', async () => {
  const [waiting, applying] = [await changed('31 days', validated), await changed('31 days', { next_batch: 1 })]
  expect(await remove()).toBe(1)
  expect(await columnsOf(waiting)).toBeUndefined()
  expect(await columnsOf(applying)).toMatchObject({ status: 'IMPORTING' })
  expect(await filesOf(applying)).toHaveLength(4)
})

it('removes the row when its files are gone already, as after a crash between the two', async () => {
  const old = await changed('31 days', ended)
  const files = await filesOf(old)
  await storage.remove(files.map((name) => `${old.workspaceId}/${old.id}/${name}`))
  expect(await remove()).toBe(1)
  expect(await columnsOf(old)).toBeUndefined()
})

it('leaves an import alone that is started while it looks', async () => {
  const old = await changed('31 days', validated)
  const looking = { ...worker, sql: Object.assign(startedAfter, worker.sql) as unknown as typeof worker.sql }
  async function startedAfter(statement: TemplateStringsArray, ...values: never[]) {
    const found = await worker.sql(statement, ...values)
    await admin`update import set status = 'IMPORTING', started_at = now(), ends_at_batch = 2, updated_at = now() where id = ${old.id}`
    return found
  }
  await removeBatch({ db, worker: looking, storage, logger })
  expect(await columnsOf(old)).toMatchObject({ status: 'IMPORTING' })
  expect(await filesOf(old)).toHaveLength(4)
})

it('an import whose files cannot be removed holds up no other, and is tried again', async () => {
  const [stuck, other] = [await changed('32 days', ended), await changed('31 days', ended)]
  const removeFolder: typeof storage.removeFolder = async (folder) => {
    if (folder.endsWith(stuck.id)) throw new Error('EACCES')
    return storage.removeFolder(folder)
  }
  const workers = { db, worker, storage: { ...storage, removeFolder }, logger }
  const { removed, last } = await removeBatch(workers)
  expect([removed, last]).toEqual([1, expect.objectContaining({ id: other.id })])
  expect(await removeBatch(workers, last)).toEqual({ removed: 0 })
  expect([await columnsOf(stuck), await columnsOf(other)]).toEqual([
    expect.objectContaining({ id: stuck.id }),
    undefined,
  ])
  expect(await remove()).toBe(1)
  expect(await columnsOf(stuck)).toBeUndefined()
})
