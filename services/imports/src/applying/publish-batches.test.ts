import { randomUUID } from 'node:crypto'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { guideBlocks } from '../../../../tests/testing/operations-guide.ts'
import { findingPath } from '../files/file-paths.ts'
import type { OwnerClient } from '../imports/owner-client.ts'
import { anAnswer, type StoredImport, storedImports } from '../testing/stored-imports.ts'
import { claimUndos } from '../undo/undo-imports.ts'
import { importsToPublish, publishBatches, publishLostAgain, publishNext } from './publish-batches.ts'
import { recordResults } from './record-results.ts'

const stored = await storedImports()
const { add, admin, db, worker, storage, columnsOf, publishedOf, receive } = stored

/** The imports of these that may publish now, by their places, with the number of batches. */
async function publishableOf(...imports: readonly StoredImport[]): Promise<[number, number][]> {
  const found = await importsToPublish(worker)
  return found.flatMap(({ id, batches }) => {
    const place = imports.findIndex((one) => one.id === id)
    return place < 0 ? [] : [[place, batches]]
  })
}

/** Publishes what may be published of an import. */
async function publishOf({ id }: StoredImport): Promise<number> {
  const applying = (await importsToPublish(worker)).find((one) => one.id === id)
  return applying === undefined ? 0 : publishNext({ db, storage }, applying)
}
const answer = (to: StoredImport, batch: number) =>
  receive(
    recordResults(() => undefined),
    anAnswer(to, batch),
  )
/** Takes an import out of the way of other tests. */
const finish = async (...imports: readonly StoredImport[]) => {
  await admin`update import set ended_at = now() where id = any(${imports.map(({ id }) => id)})`
}

it('has at most four batches of an import under way, and each answer lets the next follow', async () => {
  const large = await add({ batches: 6 })
  expect(await publishOf(large)).toBe(4)
  expect(await publishOf(large)).toBe(0)
  expect(await publishedOf(large)).toEqual([0, 1, 2, 3])
  await answer(large, 0)
  expect(await publishableOf(large)).toEqual([[0, 1]])
  expect(await publishOf(large)).toBe(1)
  await answer(large, 2)
  await answer(large, 1)
  expect(await publishOf(large)).toBe(1)
  expect(await publishOf(large)).toBe(0)
  expect(await publishedOf(large)).toEqual([0, 1, 2, 3, 4, 5])
  await finish(large)
})

it('publishes the rows of each batch as they are in the file', async () => {
  const { id } = await add({ batches: 2, columns: { product_statuses: ['ACTIVE'] } })
  const applying = (await importsToPublish(worker)).find((one) => one.id === id) ?? expect.unreachable()
  await publishNext({ db, storage }, applying)
  const records = await admin`select type, payload from outbox where key = ${id} order by id`
  const of = { import_id: id, template: 'stock', product_statuses: ['ACTIVE'] }
  expect(records).toEqual(
    [0, 1].map((batch) => ({
      type: 'batch.stock',
      payload: { ...of, batch, rows: [{ row: batch + 2, values: { sku: `S-${batch}`, stock: 1 } }] },
    })),
  )
  await admin`update import set ended_at = now() where id = ${id}`
})

it('applies one import of a workspace after the other, in the order of their starts', async () => {
  const workspaceId = randomUUID()
  const at = (seconds: number) => ({ started_at: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)) })
  const second = await add({ workspaceId, batches: 1, columns: at(2) })
  const first = await add({ workspaceId, batches: 1, columns: at(1) })
  const ofAnother = await add({ batches: 1, columns: at(3) })
  expect((await publishableOf(first, second, ofAnother)).map(([place]) => place).sort()).toEqual([0, 2])
  await publishOf(first)
  expect(await publishableOf(first, second)).toEqual([])
  await answer(first, 0)
  expect(await publishableOf(first, second)).toEqual([[1, 1]])
  await finish(second, ofAnother)
})

it('serves workspaces round robin: 24 batches are under way, and the one that waits longest is next', async () => {
  const imports = await Promise.all(Array.from({ length: 8 }, () => add({ batches: 9 })))
  const [first, , , , , , seventh, eighth] = imports as [StoredImport, ...StoredImport[]]
  const sentAt = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n))
  for (const [n, { id }] of imports.entries()) await admin`update import set sent_at = ${sentAt(n)} where id = ${id}`
  const firstSix = [0, 1, 2, 3, 4, 5].map((place) => [place, 4])
  expect(await publishableOf(...imports)).toEqual(firstSix)
  for (const one of imports.slice(0, 6)) await publishOf(one)
  expect(await publishableOf(...imports)).toEqual([])
  await answer(first, 0)
  expect(await publishableOf(...imports)).toEqual([[6, 1]])
  await answer(first, 1)
  expect(await publishableOf(...imports)).toEqual([[6, 2]])
  await publishOf(seventh as StoredImport)
  await answer(first, 2)
  expect(await publishableOf(...imports)).toEqual([[7, 1]])
  expect(await publishedOf(eighth as StoredImport)).toEqual([])
  await finish(...imports)
})

it('of replicas that publish at the same time one publishes a batch', async () => {
  const contested = await add({ batches: 40 })
  for (let batch = 0; batch < 40; ) {
    await Promise.all(Array.from({ length: 4 }, () => publishOf(contested)))
    const published = await publishedOf(contested)
    expect(published).toEqual(published.map((_, n) => n))
    expect(published.length).toBeLessThanOrEqual(batch + 4)
    expect(published.length).toBeGreaterThan(batch)
    for (; batch < published.length; batch++) await answer(contested, batch)
  }
  expect(await columnsOf(contested)).toMatchObject({ status: 'COMPLETED', updated: 40 })
})

it('publishes nothing of an import that was cancelled after it was looked at', async () => {
  const cancelled = await add({ batches: 6 })
  const applying = (await importsToPublish(worker)).find(({ id }) => id === cancelled.id) ?? expect.unreachable()
  await admin`update import set status = 'CANCELLED', ends_at_batch = 0 where id = ${cancelled.id}`
  expect(await publishNext({ db, storage }, applying)).toBe(0)
  expect(await publishedOf(cancelled)).toEqual([])
  expect(await publishableOf(cancelled)).toEqual([])
  await finish(cancelled)
})

it('publishes no batch of a file of rows that is lost or cut', async () => {
  const [lost, cut, damaged] = [await add({ batches: 2 }), await add({ batches: 2 }), await add({ batches: 2 })]
  await storage.remove([findingPath(lost, 'rows')])
  await admin`update import_batch set first_byte = first_byte + 10000 where import_id = ${cut.id}`
  await admin`update import_batch set first_byte = first_byte + 3 where import_id = ${damaged.id}`
  for (const one of [lost, cut, damaged]) {
    await expect(publishOf(one)).rejects.toThrow(
      one === damaged ? /^a line of the file of rows is cut or damaged$/ : '',
    )
    expect(await publishedOf(one)).toEqual([])
    expect(await columnsOf(one)).toMatchObject({ next_batch: 0 })
  }
  await finish(lost, cut, damaged)
})

it('an import whose rows do not come holds up no other, and goes on when they come', async () => {
  const hanging = await add({ batches: 2, columns: { sent_at: null } })
  const next = await add({ batches: 6, columns: { sent_at: new Date() } })
  const come = Promise.withResolvers<void>()
  whenDone(() => come.resolve())
  const read: typeof storage.read = async (path, range) => {
    if (path.includes(hanging.id)) await come.promise
    return storage.read(path, range)
  }
  const logger = createLogger('test', 'silent')
  const owners = {} as OwnerClient
  const batches = publishBatches({ db, worker, storage: { ...storage, read }, owners, logger })
  await batches.start()
  whenDone(() => batches.stop())
  await eventually('the other is published', async () => (await publishedOf(next)).length === 4)
  await answer(next, 0)
  batches.wake()
  await eventually('and goes on', async () => (await publishedOf(next)).length === 5)
  expect(await publishedOf(hanging)).toEqual([])
  come.resolve()
  await eventually('the one goes on', async () => (await publishedOf(hanging)).length === 2)
  await batches.stop()
  await finish(hanging, next)
})

it('publishes batches that are lost again, as docs/operations.md says, and a cancelled import then ends', async () => {
  const lost = await add({ batches: 6 })
  const [sql = ''] = guideBlocks('imports-stuck', 'sql')
  const publishAgain = () => admin.unsafe(sql.replace('<import>', lost.id))
  await publishAgain()
  await publishOf(lost)
  await answer(lost, 0)
  await answer(lost, 2)
  expect(await publishOf(lost)).toBe(2)
  await admin`update import set status = 'CANCELLED', ends_at_batch = next_batch where id = ${lost.id}`
  await admin`delete from outbox where key = ${lost.id}`
  await publishAgain()
  expect(await columnsOf(lost)).toMatchObject({ next_batch: 1, ended_at: null })
  while ((await publishOf(lost)) > 0);
  // The answer to batch 2 is there.
  for (const batch of await publishedOf(lost)) if (batch !== 2) await answer(lost, batch)
  expect(await columnsOf(lost)).toMatchObject({ status: 'CANCELLED', updated: 6, ended_at: expect.any(Date) })
  await publishAgain()
  expect(await columnsOf(lost)).toMatchObject({ next_batch: 6 })
})

it('publishes batches again of which no answer has come for a day, once a day', async () => {
  const [lost, slow] = [await add({ batches: 6 }), await add({ batches: 6 })]
  const logger = createLogger('test', 'silent')
  for (const one of [lost, slow]) {
    await publishOf(one)
    await answer(one, 0)
  }
  for (const [hours, one] of [
    [25, lost],
    [23, slow],
  ] as const) {
    const silent = { sent_at: new Date(Date.now() - hours * 3_600_000), updated_at: new Date(0) }
    await admin`update import set ${admin(silent)} where id = ${one.id}`
  }
  await publishLostAgain({ db, worker, logger })
  await publishLostAgain({ db, worker, logger })
  while ((await publishOf(lost)) > 0);
  expect(await publishedOf(lost)).toEqual([0, 1, 2, 3, 1, 2, 3, 4])
  expect(await columnsOf(slow)).toMatchObject({ next_batch: 4 })
  for (const batch of [1, 2, 3, 4]) await answer(lost, batch)
  await publishOf(lost)
  await answer(lost, 5)
  expect(await columnsOf(lost)).toMatchObject({ status: 'COMPLETED', updated: 6 })
  await finish(slow)
})

it('imports that fail come after all others, though they have sent nothing', async () => {
  const [failing, sent] = [await add(), await add()]
  await admin`update import set failing_since = now() where id = ${failing.id}`
  await admin`update import set sent_at = now() where id = ${sent.id}`
  expect((await publishableOf(failing, sent)).map(([place]) => place)).toEqual([1, 0])
  for (const one of [failing, sent]) await finish(one)
})

it('publishes no batch in a workspace whose import is being undone, until the undo has ended (OP-151)', async () => {
  const next = await add()
  const undone = await add({ workspaceId: next.workspaceId, columns: { ended_at: new Date() } })
  await admin`insert into import_undo (workspace_id, import_id) values (${next.workspaceId}, ${undone.id})`
  expect(await publishableOf(next)).toEqual([])
  await admin`update import_undo set status = 'DONE' where import_id = ${undone.id}`
  expect(await publishableOf(next)).toEqual([[0, 4]])
  await finish(next)
})

it('publishes nothing once an undo of the workspace was requested, and an undo begins with nothing under way', async () => {
  for (let round = 0; round < 20; round++) {
    const applied = await add({ batches: 1, columns: { ended_at: new Date() } })
    const large = await add({ workspaceId: applied.workspaceId, batches: 4 })
    const applying = (await importsToPublish(worker)).find(({ id }) => id === large.id)
    if (applying === undefined) throw new Error('the import may publish')
    const request = async () => {
      await admin`insert into import_undo (workspace_id, import_id) values (${applied.workspaceId}, ${applied.id})`
      return (await claimUndos({ db, worker })).length
    }
    const [published, claimed] =
      round === 0
        ? [await request(), await publishNext({ db, storage }, applying)].toReversed()
        : await Promise.all([publishNext({ db, storage }, applying), request()])
    expect([
      [4, 0],
      [0, 1],
    ]).toContainEqual([published, claimed])
    await admin`update import_undo set status = 'DONE' where import_id = ${applied.id}`
    await finish(large)
  }
})
