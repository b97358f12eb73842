import { randomUUID } from 'node:crypto'
import { EVENT_CATALOGUE } from '@backoffice/contracts/events.ts'
import { expect, it } from 'vitest'
import { anAnswer, type StoredImport, storedImports } from '../testing/stored-imports.ts'
import { recordRejectedBatches, recordResults } from './record-results.ts'

const { add, admin, columnsOf, eventsOf, receive } = await storedImports()
const nothing = () => undefined

type Status = Parameters<typeof anAnswer>[2]
const answer = (to: Parameters<typeof anAnswer>[0], batch: number, status?: Status) =>
  receive(recordResults(nothing), anAnswer(to, batch, status))
const reject = (of: StoredImport, batch: number) => receive(recordRejectedBatches(nothing), anAnswer(of, batch))
const published = (batches: number) => ({ batches, columns: { next_batch: batches } })

it('counts each answer once, in whatever order and however often they come', async () => {
  const applied = await add(published(4))
  for (const [batch, status] of [
    [2, 'created'],
    [0, 'updated'],
    [2, 'created'],
    [0, 'failed'],
    [3, 'failed'],
  ] as const) {
    await answer(applied, batch, status)
  }
  const counts = { status: 'IMPORTING', answered_batches: 3, created: 1, updated: 1, failed: 1 }
  expect(await columnsOf(applied)).toMatchObject(counts)
  expect(await eventsOf(applied)).toEqual([])
  await Promise.all([1, 1, 1].map((batch) => answer(applied, batch, 'created')))
  const ended = { ...counts, status: 'COMPLETED_WITH_ERRORS', answered_batches: 4, created: 2 }
  expect(await columnsOf(applied)).toMatchObject(ended)
  for (const batch of [0, 1, 2, 3]) await answer(applied, batch)
  expect(await columnsOf(applied)).toMatchObject(ended)
  expect(await eventsOf(applied)).toHaveLength(1)
})

it('publishes an import.completed that the catalogue of events allows, once, however the import ends', async () => {
  const [completed, rejected, cancelled] = [await add(published(1)), await add(published(3)), await add(published(1))]
  await admin`update import set status = 'CANCELLED' where id = ${cancelled.id}`
  await answer(completed, 0, 'created')
  await answer(rejected, 0)
  await reject(rejected, 1)
  await answer(cancelled, 0)
  const statuses: unknown[] = []
  for (const ended of [completed, rejected, cancelled]) {
    const [record, ...others] = await admin`
      select event_id as id, type, workspace_id, livemode, occurred_at, payload as data
      from outbox where topic = 'imports.events' and key = ${ended.id}`
    const schema = EVENT_CATALOGUE.get('import.completed')?.record
    const event = { ...record, occurred_at: record?.occurred_at.toISOString() }
    expect(schema?.safeParse(event)).toMatchObject({ success: true })
    expect(others).toEqual([])
    statuses.push(record?.data.status)
  }
  expect(statuses).toEqual(['COMPLETED', 'FAILED', 'CANCELLED'])
})

it('an answer to an unknown import, to a batch that it has not, or from another workspace changes nothing', async () => {
  const applied = await add(published(2))
  const before = await columnsOf(applied)
  await answer({ ...applied, id: randomUUID() }, 0)
  await answer(applied, 2)
  await answer({ ...applied, workspaceId: randomUUID() }, 0)
  expect(await columnsOf(applied)).toEqual(before)
})

it('a rejected batch ends the import as FAILED once the batches before it are answered, with the reason', async () => {
  const applied = await add(published(4))
  await answer(applied, 0, 'created')
  for (const batch of [2, 3, 2]) await reject(applied, batch)
  expect(await columnsOf(applied)).toMatchObject({ status: 'IMPORTING', ended_at: null, ends_at_batch: 2 })
  await answer(applied, 1, 'created')
  const failure =
    'only the first 2 valid rows could be processed; import the file again, or ask for help with the id of the import'
  expect(await columnsOf(applied)).toMatchObject({ status: 'FAILED', failure, created: 2, ended_at: expect.any(Date) })
  await reject(applied, 2)
  expect(await eventsOf(applied)).toHaveLength(1)
})

it('a rejected batch of an unknown import, or of another workspace, changes nothing', async () => {
  const applied = await add(published(2))
  const before = await columnsOf(applied)
  await reject({ ...applied, id: randomUUID() }, 0)
  await reject({ ...applied, workspaceId: randomUUID() }, 0)
  expect(await columnsOf(applied)).toEqual(before)
})
