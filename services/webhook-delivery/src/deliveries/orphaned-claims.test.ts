import type { EventRecord } from '@backoffice/contracts/events.ts'
import { type AnySql, openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { afterAll, expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { fanOutEvents } from '../events/fan-out.ts'
import { anEvent, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { LEASE_S } from './claims.ts'
import type { Dispatcher } from './dispatcher.ts'

const { workerUrl, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()

const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'worker' })
afterAll(() => stop?.())

/** Fans an event out in a transaction. Claims are handed to the dispatcher when the returned function is called. */
const fanOut = (tx: AnySql, dispatcher: Dispatcher, event: EventRecord) =>
  fanOutEvents(
    {
      directory: endpointDirectory(testKeys),
      dispatcher,
      schedule: [0],
      clock: () => new Date(),
      backlog: { note: () => undefined },
    },
    tx,
    [{ key: 'a', value: event }],
  )

/** Half of the lease. Without the search for orphaned claims, these would wait until their lease ends. */
const LONG_BEFORE_THE_LEASE_MS = 30_000

test('orphaned claims, whose commit got no answer, are made again long before their lease ends, once each', async () => {
  const receiver = await startReceiver()
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const { dispatcher, publish } = await startReplica()
  const event = anEvent(caller)
  // Committed; the connection broke before the answer, so nothing is handed over, and Kafka brings the event again.
  await inTransaction(sql, (tx) => fanOut(tx, dispatcher, event))
  await publish(event)
  await eventually('it arrives', () => receiver.requests.length > 0, LONG_BEFORE_THE_LEASE_MS)
  await eventually('it is recorded', async () => (await deliveriesOf(caller, endpoint))[0]?.status === 'DELIVERED')
  expect(receiver.requests).toHaveLength(1)
})

/** Longer than an attempt may take before the lease of its claim ends. */
const BEFORE_THE_LEASE_ENDS_MS = 500

test('a claim whose commit came after its lease is made again, and sent once', async () => {
  const receiver = await startReceiver()
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const { dispatcher } = await startReplica({ timeoutMs: LEASE_S * 1000 - BEFORE_THE_LEASE_ENDS_MS })
  const handOver = await inTransaction(sql, async (tx) => {
    const handOver = await fanOut(tx, dispatcher, anEvent(caller))
    await tx`update delivery set lease_until = now() where endpoint_id = ${endpoint.id} and claimed_by is not null`
    return handOver
  })
  const committedAt = performance.now()
  await eventually('it is recorded', async () => (await deliveriesOf(caller, endpoint))[0]?.status === 'DELIVERED')
  await eventually('the claim is too old', () => performance.now() - committedAt > BEFORE_THE_LEASE_ENDS_MS + 100)
  handOver()
  // What is accepted later is sent later.
  const next = await inTransaction(sql, (tx) => fanOut(tx, dispatcher, anEvent(caller)))
  next()
  await eventually('the next one is recorded', async () =>
    (await deliveriesOf(caller, endpoint)).every(({ status }) => status === 'DELIVERED'),
  )
  expect(receiver.requests).toHaveLength(2)
})

test('a lease begins with the claim, however long its transaction has waited before', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, (await startReceiver()).url)
  const { dispatcher } = await startReplica()
  const claim = () =>
    inTransaction(sql, async (tx) => {
      await fanOut(tx, dispatcher, anEvent(caller))
      const [row] = await tx<{ isLater: boolean }[]>`
        select lease_until > now() + make_interval(secs => ${LEASE_S}) as "isLater" from delivery
        where endpoint_id = ${endpoint.id} and claimed_by is not null order by id desc limit 1`
      return row
    })
  // Nothing is claimed before the replica has looked once for what waits.
  expect(await eventually('it is claimed', claim)).toEqual({ isLater: true })
})
