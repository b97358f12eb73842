import type { WebhookFailures, WebhookUsage } from '@backoffice/contracts/usage.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { deleteExpiredDays } from '../upkeep/delivery-counts.ts'

const { admin, workerUrl, send, createEndpointAt, takeStatements } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'worker', poolSize: 1 })
afterAll(() => worker.stop?.())

const DAY_MS = 86_400_000
const day = (fromToday: number) => new Date(Date.now() + fromToday * DAY_MS).toISOString().slice(0, 10)
const RANGE = `since=${day(-1)}&until=${day(2)}`

const usageOf = async (caller: Caller, range = RANGE) =>
  (await send<z.output<typeof WebhookUsage>>(caller, 'GET', `/internal/usage?${range}`)).body
/** What is counted, on whichever side of midnight. */
async function counted(caller: Caller) {
  const { endpoints, days } = await usageOf(caller)
  const sum = (of: 'events' | 'deliveries') => days.reduce((total, one) => total + one[of], 0)
  return { endpoints, events: sum('events'), deliveries: sum('deliveries') }
}

test('counts the events and deliveries of a workspace by day, also once they are merged and their endpoint is gone', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const endpoint = await createEndpointAt(caller, 'https://receiver.example/')
  await createEndpointAt(caller, 'https://receiver.example/second')
  for (let count = 0; count < 3; count++) await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  expect(await counted(caller)).toEqual({ endpoints: 2, events: 3, deliveries: 3 })
  while ((await mergeBatch(worker.sql, 'daily_count')) > 0);
  await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  expect((await send(caller, 'DELETE', `/v1/webhooks/${endpoint.id}`)).status).toBe(204)
  expect(await counted(caller)).toMatchObject({ endpoints: 1, events: 4, deliveries: 4 })
  expect(await counted(other)).toEqual({ endpoints: 0, events: 0, deliveries: 0 })
})

test('one event for two endpoints is two deliveries, and rows that are there already count nothing', async () => {
  const { workspaceId, ...caller } = aCaller()
  const insert = () => admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${workspaceId}, '0198c7a0-0000-7000-8000-000000000001', 'tag.created', 'key', '{}', now())
      on conflict do nothing
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${workspaceId}, endpoint_id, uuidv7(), '0198c7a0-0000-7000-8000-000000000001', 'tag.created', now(), now()
    from unnest(array['0198c7a0-0000-7000-8000-000000000002', '0198c7a0-0000-7000-8000-000000000003']::uuid[]) as endpoint_id
    on conflict (event_id, endpoint_id) do nothing`
  await insert()
  await insert()
  expect(await counted({ ...caller, workspaceId })).toEqual({ endpoints: 0, events: 1, deliveries: 2 })
})

test('counts each delivery that becomes FAILED once, also when a resend delivers it later', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'https://receiver.example/')
  for (let count = 0; count < 3; count++) await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  const become = (status: string) => admin`
    update delivery set status = ${status}, next_attempt_at = case when ${status} = 'PENDING' then now() end
    where workspace_id = ${caller.workspaceId}`
  const failures = async (of = caller) => {
    const { body } = await send<z.output<typeof WebhookFailures>>(of, 'GET', `/internal/failures?${RANGE}`)
    return body.days.reduce((total, one) => total + one.failures, 0)
  }
  expect(await failures()).toBe(0)
  await become('FAILED')
  expect(await failures()).toBe(3)
  await admin`update delivery set attempts_made = 7 where workspace_id = ${caller.workspaceId}`
  await become('DELIVERED')
  while ((await mergeBatch(worker.sql, 'daily_count')) > 0);
  expect([await failures(), await failures(aCaller())]).toEqual([3, 0])
  expect(await counted(caller)).toEqual({ endpoints: 1, events: 3, deliveries: 3 })
})

test('answers from the first day on and before the last, and keeps 90 days', async () => {
  const caller = aCaller()
  const ages = [0, 1, 89, 90, 91]
  await admin`
    insert into daily_count (workspace_id, day, kind, number)
    select ${caller.workspaceId}, (now() at time zone 'UTC')::date - age, 'event', 1 from unnest(${ages}::integer[]) as age`
  const days = async (since: number, until: number) =>
    (await usageOf(caller, `since=${day(since)}&until=${day(until)}`)).days.map((one) => one.day)
  expect(await days(-1, 0)).toEqual([day(-1)])
  expect(await days(-100, 1)).toHaveLength(5)
  while ((await deleteExpiredDays(worker.sql)) > 0);
  expect(await days(-100, 1)).toEqual([day(-89), day(-1), day(0)])
})

test('takes one statement besides the transaction’s own, whose cost is that of the days', async () => {
  const caller = aCaller()
  takeStatements()
  await usageOf(caller)
  expect(takeStatements().length).toBeLessThanOrEqual(4)
})
