import { randomUUID } from 'node:crypto'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'
import { openDatabase } from './database.ts'
import { mergeBatch, mergeCounts } from './merge-counts.ts'

const { admin, workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'counts', poolSize: 4 })
whenDone(() => worker.stop?.())

beforeEach(() => admin`truncate product_count`)

/** Adds changes of 1 to the counts of a workspace's statuses. */
const add = (workspace: string, changes: number, ...statuses: string[]) => admin`
  insert into product_count (workspace_id, status, type, change)
  select ${workspace}, status, 'SIMPLE_PRODUCT', 1
  from unnest(${statuses}::text[]) as status, generate_series(1, ${changes}::integer)`
const rows = () => admin`select status, change::integer, is_sum from product_count order by status, id`
const merge = () => mergeBatch(worker.sql, 'product_count')

it('merges the changes of each key into one row, and later ones into the same', async () => {
  const workspace = randomUUID()
  await add(workspace, 3, 'ACTIVE', 'HIDDEN')
  expect(await merge()).toBe(6)
  await add(workspace, 2, 'ACTIVE')
  await add(randomUUID(), 1, 'DRAFT')
  expect(await merge()).toBe(3)
  expect(await merge()).toBe(0)
  expect([...(await rows())]).toEqual([
    { status: 'ACTIVE', change: 5, is_sum: true },
    { status: 'DRAFT', change: 1, is_sum: true },
    { status: 'HIDDEN', change: 3, is_sum: true },
  ])
})

it('leaves changes alone that are not committed', async () => {
  const workspace = randomUUID()
  await admin.begin(async (tx) => {
    await tx`insert into product_count (workspace_id, status, type, change) values (${workspace}, 'ACTIVE', 'T', 1)`
    expect(await merge()).toBe(0)
  })
  expect(await merge()).toBe(1)
})

it('merges a table in one transaction at a time', async () => {
  await add(randomUUID(), 100, 'ACTIVE', 'HIDDEN')
  const merged = await Promise.all([merge(), merge(), merge(), merge()])
  expect(merged.reduce((sum, each) => sum + each)).toBe(200)
  expect((await rows()).map(({ change }) => change)).toEqual([100, 100])
})

it('goes on from batch to batch until no change is left', async () => {
  await add(randomUUID(), 6000, 'ACTIVE', 'HIDDEN')
  const merging = mergeCounts(worker, createLogger('test', 'silent'), ['product_count'])
  await merging.start?.()
  whenDone(() => merging.stop?.())
  await eventually('two rows', async () => (await rows()).length === 2)
  expect((await rows()).map(({ change }) => change)).toEqual([6000, 6000])
})

it('a table whose changes cannot be merged holds up no other', async () => {
  await add(randomUUID(), 1, 'ACTIVE')
  const merging = mergeCounts(worker, createLogger('test', 'silent'), ['missing', 'product_count'])
  await merging.start?.()
  await merging.stop?.()
  expect(await rows()).toMatchObject([{ is_sum: true }])
})
