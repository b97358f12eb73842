import { randomUUIDv7 } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { markBusy, stillBusy } from '../queue/busy-deliveries.ts'
import type { Attempt } from '../sending/attempt.ts'
import { countedReads } from '../testing/rows-read.ts'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { recordAttempts } from './record-attempts.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
interface Due {
  id: string
  eventId: string
  partition: string
}

/** Writes so many due deliveries to one endpoint. */
async function dueDeliveries(count: number): Promise<{ deliveries: Due[]; attempts: Attempt[] }> {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'https://example.com')
  const eventIds = Array.from({ length: count }, () => randomUUIDv7())
  const deliveries = await admin<Due[]>`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${caller.workspaceId}, ${endpoint.id}, uuidv7(), event_id, 'product.created', now(), now()
    from unnest(${eventIds}::uuid[]) as event_id
    returning id, event_id as "eventId", tableoid::regclass::text as partition`
  const attempts = deliveries.map(({ id, eventId }) => ({
    job: {
      ...{ deliveryId: id, eventId, attemptsMade: 0, resendsMade: 0, resend: undefined, resendAt: undefined },
      target: { workspaceId: caller.workspaceId, id: endpoint.id },
    },
    ...{ startedAt: new Date(), status: 'DELIVERED', nextAttemptAt: undefined, deliveredAt: new Date() },
    sent: { url: new URL('https://example.com'), headers: {} },
    exchange: { durationMs: 1, response: undefined, failure: null },
  })) as unknown as Attempt[]
  return { deliveries, attempts }
}

test('results are written to the partitions of their events alone, however many days are kept', async () => {
  const { sql, tablesOf } = countedReads(workerUrl)
  const { deliveries, attempts } = await dueDeliveries(2)
  expect(await recordAttempts(sql, attempts, 60_000)).toEqual(new Map(deliveries.map(({ id }) => [id, null])))
  const opened = [...(await tablesOf('with made'))].filter((name) => name.startsWith('delivery_'))
  expect(opened).toEqual([deliveries[0]?.partition.split('.').at(-1)])
})

/** The next version has this index instead of `delivery_due`, while this version still writes results. */
const withIndexOfNextVersion = () =>
  admin`
    create index delivery_waiting on delivery (endpoint_id, (attempts_made > 0), due_at, id) where due_at is not null`

test.each([
  ['the table was empty', 0, () => undefined],
  ['it had one row', 1, () => admin`vacuum analyze delivery`],
  ['it had not been analyzed', 3000, () => undefined],
  ['it had been analyzed', 3000, () => admin`analyze delivery`],
  ['it was empty and had the indexes of the next version', 0, withIndexOfNextVersion],
])(
  'each result and each mark finds its own delivery, not the others of its day, with a plan made when %s',
  async (_, rows, prepare) => {
    await admin`delete from delivery`
    const { sql, rowsSeen } = countedReads(workerUrl)
    const { attempts: first } = await dueDeliveries(Math.max(rows, 1))
    if (rows === 0) await admin`delete from delivery`
    await prepare()
    const write = async (some: readonly Attempt[]) => {
      const jobs = some.map(({ job }) => job)
      await markBusy(sql, jobs, 1)
      const marked = await rowsSeen('set busy_until')
      await stillBusy(sql, jobs)
      const looked = await rowsSeen('as "isBusy"')
      await recordAttempts(sql, some, 60_000)
      return Math.max(marked, looked, await rowsSeen('with made'))
    }
    await write(first.slice(0, 1))
    const { attempts } = await dueDeliveries(3000)
    const some = attempts.filter((_, index) => index % 10 === 0)
    expect(await write(some)).toBeLessThanOrEqual(10 * some.length)
  },
)

/** Changes a delivery in a transaction that is open until `commit`. */
async function changing(id: string) {
  const tx = await admin.reserve()
  await tx`begin`
  await tx`update delivery set busy_until = now() + interval '25 s' where id = ${id}`
  return {
    commit: async () => {
      await tx`commit`
      tx.release()
    },
  }
}

/** Resolves when so many statements wait for another transaction. */
const untilWaiting = (count: number) =>
  eventually(`${count} wait`, async () => {
    const [{ waiting }] = await admin<[{ waiting: number }]>`
      select count(*)::integer as waiting from pg_stat_activity
      where datname = current_database() and application_name = 'plans' and wait_event_type = 'Lock'`
    return waiting === count
  })

test('a result is written when its delivery changes at the same time, as when its shard is handed over', async () => {
  const { sql } = countedReads(workerUrl)
  const { deliveries, attempts } = await dueDeliveries(3)
  const change = await changing(deliveries[1]?.id ?? '')
  const recorded = recordAttempts(sql, attempts, 60_000)
  await untilWaiting(1)
  await change.commit()
  expect(new Set((await recorded).keys())).toEqual(new Set(deliveries.map(({ id }) => id)))
})

test('a mark and results of the same deliveries never wait for each other, in whatever order they are given', async () => {
  const [marking, recording] = [countedReads(workerUrl), countedReads(workerUrl)]
  const { deliveries, attempts } = await dueDeliveries(3)
  const change = await changing(deliveries[0]?.id ?? '')
  const jobs = attempts.map(({ job }) => job)
  const marked = markBusy(marking.sql, jobs, 25)
  await untilWaiting(1)
  const recorded = recordAttempts(recording.sql, attempts.toReversed(), 60_000)
  await untilWaiting(2)
  await change.commit()
  await marked
  expect((await recorded).size).toBe(3)
})
