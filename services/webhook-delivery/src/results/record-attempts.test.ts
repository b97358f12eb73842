import { randomUUIDv7 } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
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
  expect(await recordAttempts(sql, attempts)).toEqual(new Map(deliveries.map(({ id }) => [id, null])))
  const opened = [...(await tablesOf('with made'))].filter((name) => name.startsWith('delivery_'))
  expect(opened).toEqual([deliveries[0]?.partition.split('.').at(-1)])
})

test.each([
  ['before the tables were analyzed', () => undefined],
  ['when they have been', () => admin`analyze delivery`],
])('each result finds its own delivery, not the others of its day, with a plan made %s', async (_, prepare) => {
  const { sql, rowsSeen } = countedReads(workerUrl)
  const { attempts } = await dueDeliveries(3000)
  await prepare()
  const some = attempts.filter((_, index) => index % 10 === 0)
  await recordAttempts(sql, some)
  expect(await rowsSeen('with made')).toBeLessThanOrEqual(10 * some.length)
})
