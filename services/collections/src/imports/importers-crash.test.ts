import { randomUUID } from 'node:crypto'
import { consumedImports } from '@backoffice/importing/testing/consumed-imports.ts'
import type { Moment } from '@backoffice/importing/testing/crashing-imports.ts'
import { aBatch } from '@backoffice/importing/testing/import-batches.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { membershipBuilder } from '../memberships/membership-builder.ts'
import { applyImportBatches } from './importers.ts'

const SCRIPT = new URL('./testing/crashing-consumer.ts', import.meta.url)
const rules = JSON.stringify({ match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 3 }] })
const rows = (values: object) => Array.from({ length: 100 }, (_, index) => ({ handle: `c-${index}`, ...values }))
const BATCHES = [rows({ name: 'Imported', membership_type: 'SMART', rules }), rows({ description: 'Imported' })]

/** Kills a consumer in the first of two batches and starts another one. Returns the state after each. */
async function survive(moment: Moment) {
  const { workspaceId, livemode } = aCaller()
  const importId = randomUUID()
  const imports = await consumedImports(
    'collections',
    applyImportBatches(() => undefined),
  )
  const { admin } = imports
  await admin`
    insert into product
    select ${workspaceId}, uuidv7(), 1, 'name', '', 'SIMPLE_PRODUCT', 'ACTIVE', '{}', '{}', '{}', '{}', n, true, false, now(), '{}'
    from generate_series(1, 10) as n`
  const records = BATCHES.map((batchRows, batch) =>
    aBatch({ workspaceId, livemode }, 'collections', batchRows, { importId, batch }),
  )
  await imports.send(...records)
  const signal = await imports.crash(SCRIPT, moment)
  const left = await admin`select from collection`
  const versionsLeft = await versionNumbers(admin)
  const answersLeft = await imports.answersOf(importId)
  // Changed after the import, so a second application of the first batch would show.
  await admin`update collection set name = 'Renamed since'`
  await imports.startReplica()
  const answers = await imports.answered(importId, 2)
  await startBuilder(imports.workerUrl)
  await eventually('all is built', async () => {
    const open = await admin`select from membership_version where state <> 'CURRENT'`
    return open.length === 0
  })
  const collections = await admin`
    select distinct name, description, sum(available)::integer as products
    from collection join membership_version on collection_id = id join collection_member_count on version_number = number
    group by id, name, description`
  expect(await versionNumbers(admin)).toEqual(expect.arrayContaining(versionsLeft))
  return {
    signal,
    left: { collections: left.length, answers: answersLeft.length },
    statuses: answers.map((answer) => [answer.batch, ...new Set(answer.rows.map(({ status }) => status))]),
    collections: [...collections],
  }
}

/** A new membership version has a new number. */
const versionNumbers = async (admin: Sql) => [...(await admin`select number from membership_version order by number`)]

async function startBuilder(workerUrl: string): Promise<void> {
  const worker = openDatabase({ url: workerUrl, applicationName: 'test builder', poolSize: 2 })
  const builder = membershipBuilder(worker.sql, silent)
  await builder.start?.()
  whenDone(async () => {
    await builder.stop?.()
    await worker.stop?.()
  })
}

const outcome = (name: string) => ({
  signal: 'SIGKILL',
  statuses: [
    [0, 'created'],
    [1, 'updated'],
  ],
  collections: [{ name, description: 'Imported', products: 7 }],
})

test('of a process killed in the middle of a batch nothing is left, and the batch is applied and answered once', async () => {
  const left = { collections: 0, answers: 0 }
  expect(await survive('BEFORE_ANSWER')).toEqual({ left, ...outcome('Imported') })
})

test('a batch committed by a process killed before it committed the offset is neither applied nor answered again', async () => {
  const left = { collections: 100, answers: 1 }
  expect(await survive('AFTER_COMMIT')).toEqual({ left, ...outcome('Renamed since') })
})
