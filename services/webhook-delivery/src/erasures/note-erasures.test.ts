import { randomUUID } from 'node:crypto'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import { encoded } from '@backoffice/messaging/consumers/testing/consumer.ts'
import { aTopic, collect, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { expect, test } from 'vitest'
import { envelopeOf } from '../events/matching.ts'
import { anEvent } from '../testing/webhooks-api.ts'
import { erasureWorker } from './erasure-worker.ts'
import { noteErasures } from './note-erasures.ts'
import { aCustomer } from './testing/personal-data.ts'

const DEAD_LETTERS = deadLetterTopic(noteErasures.name)
const [{ kafka, open }, { admin, workerUrl }] = await Promise.all([
  testKafka([aTopic(TOPICS.ordersErasures), aTopic(DEAD_LETTERS)]),
  testDatabase('webhook-delivery'),
])
const dead = collect(kafka, DEAD_LETTERS)

/** Two replicas of the consumer and the worker. */
for (const applicationName of ['one', 'other']) {
  const db = openDatabase({ url: workerUrl, applicationName, settings: PLAN_ONCE_BY_KEYS })
  const notes = consumer(noteErasures, { kafka: open(), db, logger: silent, fatal: () => undefined })
  const worker = erasureWorker(db.sql, silent, () => new Date())
  await notes.start()
  await worker.start?.()
  whenDone(async () => {
    await worker.stop?.()
    await notes.stop()
    await db.stop?.()
  })
}

const erased = (caller: Caller, id: string, differences: Partial<EventRecord> = {}) =>
  anEvent(caller, { type: 'customer.erased', data: { id }, ...differences })

const send = (...events: EventRecord[]) =>
  kafka.produce(
    events.map((event) => ({
      topic: TOPICS.ordersErasures,
      key: (event.data as { id: string }).id,
      value: encoded(event),
      headers: {},
    })),
  )

const erasuresOf = async (customerId: string) =>
  admin<{ workspace_id: string; passes_made: number }[]>`
    select workspace_id, passes_made from erasure where customer_id = ${customerId} order by workspace_id`

test('customer.erased on Kafka removes the stored data of that customer, in that workspace (OP-139)', async () => {
  const [caller, elsewhere] = [aCaller(), aCaller()]
  const customer = aCustomer()
  const events = [caller, elsewhere].map((who) =>
    anEvent(who, { id: uuidv7(), type: 'customer.created', data: customer }),
  )
  for (const event of events) {
    await admin`
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${event.workspace_id}, ${event.id}, ${event.type}, ${customer.id}, ${envelopeOf(event)}, now())`
  }
  const record = erased(caller, customer.id)
  await send(record, { ...record, data: { id: customer.id, member_of_a_later_version: 1 } })
  await send(record)
  await eventually('the first pass is made', async () => (await erasuresOf(customer.id))[0]?.passes_made === 1)
  expect(await erasuresOf(customer.id)).toEqual([{ workspace_id: caller.workspaceId, passes_made: 1 }])
  const rows = await admin`
    select workspace_id, body like '%Ada%' as "isThere" from event where key = ${customer.id} order by id`
  expect(rows).toEqual([
    { workspace_id: caller.workspaceId, isThere: false },
    { workspace_id: elsewhere.workspaceId, isThere: true },
  ])
})

test('a record of another type or shape erases nobody: it goes to the dead letters, and those behind it are handled', async () => {
  const caller = aCaller()
  const [id, other] = [randomUUID(), randomUUID()]
  await send(
    erased(caller, other, { type: 'customer.restored' }),
    erased(caller, id, { workspace_id: '' }),
    erased(caller, id),
  )
  await eventually('the last is noted', async () => (await erasuresOf(id)).length === 1)
  const letters = await dead.atLeast(2)
  const reasons = letters.map(({ headers }) => headers['dead-letter-reason']?.toString())
  expect(reasons.sort()).toEqual([expect.stringMatching(/^type: /), expect.stringMatching(/^workspace_id: /)])
  expect(await erasuresOf(other)).toEqual([])
})
