import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import type { OwnerClient } from '../imports/owner-client.ts'
import { type StoredImport, storedImports } from '../testing/stored-imports.ts'
import { claimUndos, takeStep, undoImports } from './undo-imports.ts'

const { add, admin, db, worker, storage } = await storedImports()
const logger = { warn: () => undefined } as never

/** An ended import whose undo was requested. */
async function undone(workspaceId?: string, columns = {}): Promise<StoredImport> {
  const stored = await add({
    ...(workspaceId !== undefined && { workspaceId }),
    columns: { ended_at: new Date(), ...columns },
  })
  await admin`
    insert into import_undo (workspace_id, import_id, requested_at) values (${stored.workspaceId}, ${stored.id}, clock_timestamp())`
  return stored
}
const claim = async () => (await claimUndos({ db, worker })).map(({ id }) => id)
const undoOf = async ({ id }: StoredImport) => (await admin`select * from import_undo where import_id = ${id}`)[0]
const end = (...undos: StoredImport[]) =>
  admin`update import_undo set status = 'DONE' where import_id = any(${undos.map(({ id }) => id)})`

it('claims one step of each workspace’s first undo, for one replica, until the claim ends', async () => {
  const first = await undone()
  const [second, other] = [await undone(first.workspaceId), await undone()]
  const claims = await Promise.all([claim(), claim()])
  expect(claims.flat().toSorted()).toEqual([first.id, other.id].toSorted())
  expect(await claim()).toEqual([])
  await admin`update import_undo set claimed_until = now() where import_id = ${first.id}`
  expect(await claim()).toEqual([first.id])
  await end(first)
  expect(await claim()).toEqual([second.id])
  await end(second, other)
})

it('waits for batches that are under way in the workspace', async () => {
  const undo = await undone()
  const busy = await add({ workspaceId: undo.workspaceId, columns: { next_batch: 2, answered_batches: 1 } })
  expect(await claim()).toEqual([])
  await admin`update import set answered_batches = 2 where id = ${busy.id}`
  expect(await claim()).toEqual([undo.id])
  await end(undo)
})

it('an undo whose owner hangs takes one place, and holds up no step of another undo', async () => {
  const [hanging, other] = [await undone(), await undone()]
  const asked: string[] = []
  const undo: OwnerClient['undo'] = async ({ id }, signal) => {
    asked.push(id)
    if (id === other.id) return { deleted: 1, restored: 0, kept: 0, rows: [], is_done: true }
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const owners = { undo } as OwnerClient
  let ended = 0
  const context = { db, worker, storage, owners, logger: createLogger('test', 'silent') }
  const undos = undoImports(context, () => ended++)
  await undos.start?.()
  whenDone(() => undos.stop())
  await eventually('the other undo is done', async () => (await undoOf(other))?.status === 'DONE')
  expect([ended, asked.toSorted()]).toEqual([1, [hanging.id, other.id].toSorted()])
  await admin`update import_undo set claimed_until = now() where import_id = ${hanging.id}`
  const next = await undone()
  undos.wake()
  await eventually('the next undo is asked for', () => asked.includes(next.id))
  expect(asked.filter((id) => id === hanging.id)).toHaveLength(1)
  await undos.stop()
  await end(hanging, next)
})

it('an owner that hangs holds up no undo of another owner, however many of its own wait', async () => {
  const hanging = await Promise.all(Array.from({ length: 8 }, () => undone(undefined, { template: 'customers' })))
  const other = await undone()
  await admin`update import_undo set stepped_at = now() where import_id = ${other.id}`
  const first = await claimUndos({ db, worker })
  expect(first.map(({ template }) => template).toSorted()).toEqual(['customers', 'customers', 'stock'])
  const left = first.filter(({ template }) => template === 'customers')
  await admin`update import_undo set claimed_until = now() where import_id = ${other.id}`
  expect((await claimUndos({ db, worker }, left)).map(({ id }) => id)).toEqual([other.id])
  await end(...hanging, other)
})

it('is FAILED when its owner has not answered for ten minutes, and tried again until then', async () => {
  const undo = await undone()
  const owners = { undo: () => Promise.reject(new Error('away')) }
  const never = new AbortController().signal
  const [claimed] = await claimUndos({ db, worker })
  if (claimed === undefined) throw new Error('the undo is not claimed')
  expect(await takeStep({ db, owners, logger }, claimed, never)).toBe(false)
  expect(await undoOf(undo)).toMatchObject({ status: 'RUNNING', failing_since: expect.any(Date) })
  expect(await claim()).toEqual([])
  await admin`update import_undo set failing_since = now() - interval '10 minutes' where import_id = ${undo.id}`
  expect(await takeStep({ db, owners, logger }, claimed, never)).toBe(true)
  expect(await undoOf(undo)).toMatchObject({ status: 'FAILED' })
})
