import { type Database, openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'
import { deleteSome, deleteWorkspaces } from './delete-workspaces.ts'
import { noteDeletion, PASSES_AFTER_S } from './deletion-passes.ts'
import type { WorkspaceHooks } from './workspace-hooks.ts'
import { rowsOf } from './workspace-tables.ts'

const { admin, db, appUrl } = await testDatabase('catalog')
const lines: unknown[] = []
const logger: Logger = Object.assign(createLogger('test', 'silent'), { warn: (line: unknown) => void lines.push(line) })
const aReplica = { db, logger, wakeRelay: () => undefined }
const recordsOfDeleted: NonNullable<WorkspaceHooks['recordsOfDeleted']> = {
  product: (key) => ({ topic: 'catalog.products', type: 'product.state', key, data: null }),
}

// The deletions of other tests have no turns.
beforeEach(async () => {
  await admin`update deleted_workspace set next_pass_at = null`
})

const inside = <Result>(workspaceId: string, work: (tx: Transaction) => Promise<Result>) =>
  db.inWorkspace({ workspaceId, livemode: true, traceparent: '' }, work)
const left = (workspaceId: string) => inside(workspaceId, (tx) => rowsOf(tx, {}))
const note = (workspaceId: string) => inside(workspaceId, noteDeletion)

/** A workspace with products, and categories that are children of one another. */
async function aWorkspace(products = 3): Promise<string> {
  const { workspaceId } = aCaller()
  await admin`
    insert into product (workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at)
    select ${workspaceId}, uuidv7(), 'Mug ' || n, 'mug-' || n, 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now()
    from generate_series(1, ${products}::integer) as n`
  let parent: string | null = null
  for (const name of ['a', 'b', 'c']) {
    const [row]: { id: string }[] = await admin`
      insert into category (workspace_id, id, name, slug, parent_id, created_at, updated_at)
      values (${workspaceId}, uuidv7(), ${name}, ${name}, ${parent}, now(), now()) returning id`
    parent = row?.id ?? null
  }
  return workspaceId
}

/** The database notes a deletion by its own clock, in fractions of a millisecond. */
const soon = () => new Date(Date.now() + 10)

/** Works until nothing is due; `publish` has the outbox published meanwhile. */
async function deleteDue(hooks: WorkspaceHooks = { recordsOfDeleted }, now = soon()) {
  let batches = 0
  while (await deleteSome({ ...aReplica, hooks }, new Date(now.getTime() + batches * 1100))) {
    batches++
    await admin`update outbox set published_at = now() where published_at is null`
    if (batches > 200) throw new Error('it does not end')
  }
  return batches
}

const passesMade = async (workspaceId: string) => {
  const [row] = await admin<{ passes_made: number; next_pass_at: Date | null }[]>`
    select passes_made, next_pass_at from deleted_workspace where workspace_id = ${workspaceId}`
  return row
}

it('deletes all rows of a workspace, those of a table that refers to itself included, and no row of another', async () => {
  const [deleted, other] = [await aWorkspace(1200), await aWorkspace()]
  const before = await left(other)
  await note(deleted)
  expect(await deleteDue()).toBeGreaterThan(3)
  expect(await left(deleted)).toEqual({})
  expect(await left(other)).toEqual(before)
})

it('deletes the rows in all partitions of a table, and none of another workspace at the same place of another one', async () => {
  const { admin, db } = await testDatabase('webhook-delivery')
  const [deleted, other] = [aCaller().workspaceId, aCaller().workspaceId]
  for (const [workspaceId, days] of [
    [deleted, 0],
    [other, 1],
    [deleted, 1],
    [other, 0],
  ] as const)
    await admin`
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${workspaceId}, uuidv7(make_interval(days => ${days})), 'tag.created', 'key', '{}', now())`
  const places = await admin<{ place: string }[]>`select distinct ctid::text as place from event`
  const partitions = await admin<{ oid: number }[]>`select distinct tableoid as oid from event`
  expect([places.length, partitions.length]).toEqual([2, 2])
  const context = { workspaceId: deleted, livemode: true, traceparent: '' }
  await db.inWorkspace(context, noteDeletion)
  for (const seconds of [1, 3]) await deleteSome({ ...aReplica, db, hooks: {} }, new Date(Date.now() + seconds * 1000))
  const left = await admin<{ workspace_id: string }[]>`select workspace_id from event`
  expect(left.map(({ workspace_id }) => workspace_id)).toEqual([other, other])
})

it('publishes a tombstone for each product, and keeps it until it is published', async () => {
  const workspaceId = await aWorkspace(2)
  await note(workspaceId)
  const ids = (await admin<{ id: string }[]>`select id from product where workspace_id = ${workspaceId}`).map(
    ({ id }) => id,
  )
  for (let batch = 0; batch < 5; batch++)
    await deleteSome({ ...aReplica, hooks: { recordsOfDeleted } }, new Date(soon().getTime() + batch * 1500))
  const waiting = await admin<{ key: string; payload: unknown }[]>`
    select key, payload from outbox where workspace_id = ${workspaceId}`
  expect(waiting.map(({ key, payload }) => [key, payload])).toEqual(expect.arrayContaining(ids.map((id) => [id, null])))
  expect(await passesMade(workspaceId)).toMatchObject({ passes_made: 0 })
  await deleteDue(undefined, new Date(Date.now() + 60_000))
  expect(await left(workspaceId)).toEqual({})
})

it('keeps what tells other services of the deletion, and no other record; it is at its end once that is published', async () => {
  const { admin, db } = await testDatabase('gateway')
  const { workspaceId } = aCaller()
  const context = { workspaceId, livemode: true, traceparent: '' }
  await db.inWorkspace(context, async (tx) => {
    await noteDeletion(tx)
    const topics = ['apps.acts', 'gateway.workspaces', 'orders.events'] as const
    const records = topics.map((topic) => ({ topic, type: 'workspace.deleted', key: workspaceId, data: {} }))
    await publish(tx, records, new Date())
  })
  const hooks = { keptTables: ['audit', 'request_log'] }
  const pass = (seconds: number) => deleteSome({ ...aReplica, db, hooks }, new Date(soon().getTime() + seconds * 1000))
  const topicsLeft = () => admin`select topic from outbox where workspace_id = ${workspaceId} order by topic`
  for (const seconds of [0, 2, 4]) await pass(seconds)
  const kept = [{ topic: 'apps.acts' }, { topic: 'gateway.workspaces' }]
  expect(await topicsLeft()).toEqual(kept)
  const passes = () => admin`select passes_made from deleted_workspace where workspace_id = ${workspaceId}`
  expect(await passes()).toEqual([{ passes_made: 0 }])
  await admin`
    update outbox set
      published_at = case topic when 'apps.acts' then now() end, overtaken = topic = 'gateway.workspaces'
    where workspace_id = ${workspaceId}`
  for (const seconds of [6, 8]) await pass(seconds)
  expect(await passes()).not.toEqual([{ passes_made: 0 }])
  expect(await topicsLeft()).toEqual(kept)
})

it('finds what is written later with its next passes, and ends with the last one', async () => {
  const workspaceId = await aWorkspace()
  await note(workspaceId)
  await deleteDue()
  for (const seconds of PASSES_AFTER_S.slice(1)) {
    await admin`
      insert into product (workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at)
      values (${workspaceId}, uuidv7(), 'Late', 'late', 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now())`
    await deleteDue(undefined, new Date(Date.now() + seconds * 1000 + 1000))
    expect([seconds, await left(workspaceId)]).toEqual([seconds, {}])
  }
  expect(await passesMade(workspaceId)).toEqual({ passes_made: PASSES_AFTER_S.length, next_pass_at: null })
  await note(workspaceId)
  expect(await passesMade(workspaceId)).toMatchObject({ next_pass_at: null })
})

it('goes on when the clock that was ahead is right again, and makes all passes', async () => {
  const workspaceId = await aWorkspace()
  await note(workspaceId)
  await admin`
    update deleted_workspace set
      noted_at = noted_at + interval '30 days', next_pass_at = next_pass_at + interval '30 days',
      worked_at = worked_at + interval '30 days'
    where workspace_id = ${workspaceId}`
  await deleteDue()
  expect(await left(workspaceId)).toEqual({})
  await deleteDue(undefined, new Date(Date.now() + 9 * 24 * 3_600_000))
  expect(await passesMade(workspaceId)).toEqual({ passes_made: PASSES_AFTER_S.length, next_pass_at: null })
})

it('is held back until the service is ready for it, for 24 hours at most', async () => {
  const workspaceId = await aWorkspace()
  const before = await left(workspaceId)
  await note(workspaceId)
  const hooks: WorkspaceHooks = { recordsOfDeleted, isReadyForDeletion: async () => false }
  const deleting = { ...aReplica, hooks }
  expect(await deleteSome(deleting, soon())).toBe(true)
  expect(await deleteSome(deleting, soon())).toBe(false)
  expect(await left(workspaceId)).toEqual(before)
  await deleteDue(hooks, new Date(Date.now() + 24 * 3_600_000 + 1000))
  expect(await left(workspaceId)).toEqual({})
})

it('workspaces take turns: a small one does not wait for the end of a large one', async () => {
  const [large, small] = [await aWorkspace(3000), await aWorkspace(1)]
  await note(large)
  await note(small)
  const now = soon().getTime()
  for (let batch = 0; batch < 6; batch++) await deleteSome({ ...aReplica, hooks: {} }, new Date(now + batch * 10))
  expect((await left(small)).product).toBeUndefined()
  expect((await left(large)).product).toBeGreaterThan(0)
  await deleteDue({}, new Date(now + 20_000))
})

it('removes the files once the rows are gone, and tries again while storage is away', async () => {
  const workspaceId = await aWorkspace()
  await note(workspaceId)
  let isAway = true
  const removed: string[] = []
  const files: NonNullable<WorkspaceHooks['files']> = {
    countFiles: async () => 0,
    async removeFolder(folder) {
      if (isAway) throw new Error('storage is away')
      removed.push(folder)
    },
  }
  await deleteDue({ files })
  expect(lines).toContainEqual({
    err: new Error('storage is away'),
    worker: 'deleted workspaces',
    workspace_id: workspaceId,
  })
  expect(await passesMade(workspaceId)).toMatchObject({ passes_made: 0 })
  isAway = false
  await deleteDue({ files }, new Date(Date.now() + 600_000))
  expect(removed).toContain(workspaceId)
})

it('asks storage for nothing while tombstones wait to be published', async () => {
  const workspaceId = await aWorkspace(2)
  await note(workspaceId)
  const removed: string[] = []
  const removeFolder = async (folder: string) => void removed.push(folder)
  const hooks: WorkspaceHooks = { recordsOfDeleted, files: { countFiles: async () => 0, removeFolder } }
  for (let batch = 0; batch < 10; batch++)
    await deleteSome({ ...aReplica, hooks }, new Date(soon().getTime() + batch * 1500))
  expect([Object.keys(await left(workspaceId)), removed]).toEqual([['outbox'], []])
  await deleteDue(hooks, new Date(Date.now() + 60_000))
  expect(removed).toContain(workspaceId)
})

it('while the files of a workspace are removed, other replicas work on others', async () => {
  const [one, other] = ['0198c7a0-0000-7000-8000-000000000001', '0198c7a0-0000-7000-8000-000000000002']
  for (const workspaceId of [one, other]) await note(workspaceId)
  const now = soon()
  const begun: string[] = []
  const files: NonNullable<WorkspaceHooks['files']> = {
    countFiles: async () => 0,
    async removeFolder(folder) {
      if (begun.push(folder) === 1) await deleteSome({ ...aReplica, hooks: { files } }, now)
    },
  }
  await deleteSome({ ...aReplica, hooks: { files } }, now)
  expect(begun.toSorted()).toEqual([one, other])
  for (const workspaceId of [one, other]) expect(await passesMade(workspaceId)).toMatchObject({ passes_made: 1 })
})

it('two replicas and requests that write meanwhile leave nothing', async () => {
  const workspaceId = await aWorkspace(1500)
  const replica = (): Database => {
    const pool = openDatabase({ url: appUrl, applicationName: 'replica', poolSize: 2 })
    whenDone(() => pool.stop?.())
    return pool
  }
  const workers = [replica(), replica()].map((pool) => deleteWorkspaces({ ...aReplica, db: pool, hooks: {} }))
  await note(workspaceId)
  for (const worker of workers) await worker.start?.()
  for (let n = 0; n < 50; n++)
    await inside(
      workspaceId,
      (tx) => tx`
        insert into product (workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at)
        values (${workspaceId}, uuidv7(), 'Under way', ${`under-way-${n}`}, 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now())`,
    )
  await eventually('nothing is left', async () => Object.keys(await left(workspaceId)).length === 0)
  for (const worker of workers) await worker.stop?.()
})
