import { randomUUIDv7 } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { endDeliveries, markBusy, stillBusy } from './busy-deliveries.ts'
import { readBusy } from './read-due.ts'

const { admin, workerUrl } = await webhookDelivery()
const statements: string[] = []
const { sql, stop } = openDatabase({
  url: workerUrl,
  applicationName: 'worker',
  onStatement: (text) => statements.push(text),
})
afterAll(() => stop?.())

/** A delivery whose next attempt is in flight, with so many made before. */
async function inFlight(attemptsMade = 0) {
  const { workspaceId } = aCaller()
  const [endpointId, deliveryId, eventId] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()]
  await admin`
    insert into event (workspace_id, id, type, key, body, occurred_at)
    values (${workspaceId}, ${eventId}, 'product.created', 'key', '{}', now())`
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
    values (${workspaceId}, ${endpointId}, ${deliveryId}, ${eventId}, 'product.created', ${attemptsMade}, now(), now())`
  return {
    job: { deliveryId, eventId, attemptsMade, target: { id: endpointId, workspaceId } },
    row: async () => {
      const [row] = await admin`
        select *, busy_until - now() as busy_for from delivery where id = ${deliveryId}`
      return row
    },
    /** As the result of the attempt is recorded. */
    record: () => admin`
      update delivery set status = 'DELIVERED', attempts_made = attempts_made + 1, next_attempt_at = null, busy_until = null
      where id = ${deliveryId}`,
  }
}

test('attempts in flight are marked for some seconds, by the clock of the database, and marked as over', async () => {
  const [one, other] = [await inFlight(), await inFlight(3)]
  await markBusy(sql, [one.job, other.job], 30)
  for (const { job } of [one, other]) expect((await stillBusy(sql, [job])).get(job.deliveryId)).toBe(true)
  const [{ seconds }] = await admin<[{ seconds: number }]>`
    select extract(epoch from busy_until - clock_timestamp())::float8 as seconds from delivery where id = ${one.job.deliveryId}`
  expect(seconds).toBeLessThanOrEqual(30)
  expect(seconds).toBeGreaterThan(0)
  await markBusy(sql, [one.job], 0)
  expect(await stillBusy(sql, [one.job, other.job])).toEqual(
    new Map([
      [one.job.deliveryId, false],
      [other.job.deliveryId, true],
    ]),
  )
})

test('one that is recorded is marked no more, nor is another attempt of it', async () => {
  const [over, retried] = [await inFlight(), await inFlight()]
  await over.record()
  await admin`update delivery set attempts_made = 1 where id = ${retried.job.deliveryId}`
  await markBusy(sql, [over.job, retried.job], 30)
  for (const { row } of [over, retried]) expect(await row()).toMatchObject({ busy_until: null })
  expect(await stillBusy(sql, [over.job, retried.job])).toEqual(new Map())
})

test('one that was never marked is to be recorded still, and not busy', async () => {
  const { job } = await inFlight()
  expect(await stillBusy(sql, [job])).toEqual(new Map([[job.deliveryId, false]]))
})

test('deliveries of a deleted endpoint end without an attempt; one that was DELIVERED before stays so', async () => {
  const [pending, delivered, changed] = [await inFlight(), await inFlight(1), await inFlight()]
  await admin`
    update delivery set status = 'DELIVERED', next_attempt_at = null, resend_at = now() where id = ${delivered.job.deliveryId}`
  await admin`update delivery set attempts_made = 1 where id = ${changed.job.deliveryId}`
  await markBusy(sql, [pending.job], 30)
  await endDeliveries(sql, [pending.job, delivered.job, changed.job])
  const over = { next_attempt_at: null, resend_at: null, busy_until: null, due_at: null }
  expect(await pending.row()).toMatchObject({ ...over, status: 'FAILED', attempts_made: 0 })
  expect(await delivered.row()).toMatchObject({ ...over, status: 'DELIVERED', attempts_made: 1 })
  expect(await changed.row(), 'met again with its new number').toMatchObject({ status: 'PENDING' })
})

test('the next owner finds what is in flight, however many deliveries of other keys are due before it', async () => {
  const [one, other, over, recorded] = [await inFlight(), await inFlight(2), await inFlight(), await inFlight()]
  await markBusy(sql, [one.job, other.job, over.job, recorded.job], 30)
  await markBusy(sql, [over.job], 0)
  await recorded.record()
  const busy = await readBusy(sql)
  const found = busy.filter(({ id }) => [one, other, over, recorded].some(({ job }) => job.deliveryId === id))
  expect(found.map(({ id, attemptsMade, key }) => [id, attemptsMade, key])).toEqual([
    [one.job.deliveryId, 0, 'key'],
    [other.job.deliveryId, 2, 'key'],
  ])
  expect(found[0]?.busyUntil?.getTime()).toBeGreaterThan(Date.now())
})

test('nothing is asked of PostgreSQL for nothing', async () => {
  statements.length = 0
  await markBusy(sql, [], 30)
  await endDeliveries(sql, [])
  expect(statements).toEqual([])
  await readBusy(sql)
  expect(statements).not.toEqual([])
})
