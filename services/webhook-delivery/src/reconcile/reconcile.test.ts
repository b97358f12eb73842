import { randomUUID } from 'node:crypto'
import { EVENT_TOPICS, type EventRecord, TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { aTopic, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { checkRuns } from '@backoffice/service/testing/check-runs.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { FAN_OUT } from '../events/fan-out.ts'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'
import type { ExpectedDelivery } from './judgement.ts'
import { type Reconciliation, reconcileCheck, reconcileRange } from './reconcile.ts'

const TOPICS_READ = [...EVENT_TOPICS, deadLetterTopic(FAN_OUT)].map((name) => aTopic(name))
const [service, { kafka, open, prefix }, receiver] = await Promise.all([
  webhookDelivery(),
  testKafka(TOPICS_READ),
  startReceiver(),
])
const { admin, send, workerUrl, createEndpointAt, startReplica } = service
const statements: string[] = []
const worker = openDatabase({
  url: workerUrl,
  applicationName: 'reconcile',
  onStatement: (text) => statements.push(text),
})
whenDone(() => worker.stop?.())
await (await startReplica()).consume(open())
const config = { KAFKA_BROKERS: [...backingServices().kafkaBrokers], KAFKA_PREFIX: prefix, KAFKA_TLS: false }
const { ask, run } = await checkRuns('webhook-delivery', { reconcile: reconcileCheck(config, silent) }, service)

const MINUTE_MS = 60_000
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)

const encoded = (value: unknown) => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(JSON.stringify(value))])
const recordOf = (event: EventRecord, key: string = randomUUID()) => ({
  topic: TOPICS.catalogEvents as string,
  key,
  value: encoded(event),
  headers: {},
})

/** A workspace with an endpoint that is an hour old, with functions to publish events and to read its deliveries. */
async function subscribed() {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  await setAge(endpoint, ago(60), ago(60))
  const { workspaceId } = caller
  const delivered = (count: number) =>
    eventually(`${count} are delivered`, async () => {
      const rows = await admin`select from delivery where workspace_id = ${workspaceId} and status = 'DELIVERED'`
      return rows.length === count
    })
  /** Publishes events and waits for their deliveries. */
  const publish = async (...events: EventRecord[]) => {
    await kafka.produce(events.map((event) => recordOf(event)))
    await delivered(events.length)
  }
  return { caller, workspaceId, endpoint, publish, delivered, event: (of = {}) => anEvent(caller, of) }
}

const setAge = ({ id }: { id: string }, createdAt: Date, updatedAt: Date) =>
  admin`update endpoint set created_at = ${createdAt}, updated_at = ${updatedAt} where id = ${id}`

/** Reconciles the last ten minutes of one workspace, and returns the report. */
async function reconcile(workspaceId: string, options: Partial<Reconciliation> = {}, of = open()) {
  const reported: [string, ExpectedDelivery][] = []
  const report = await reconcileRange(of, worker.sql, {
    since: ago(10),
    until: new Date(Date.now() + MINUTE_MS),
    marginMs: MINUTE_MS,
    overdueMs: MINUTE_MS,
    workspaceId,
    onDiscrepancy: (discrepancy, delivery) => reported.push([discrepancy, delivery]),
    ...options,
  })
  const { outcomes, discrepancies, ...counts } = report
  return { reported, ...counts, outcomes: [...outcomes], discrepancies: [...discrepancies] }
}

/** The parameters for the last ten minutes. */
const lately = () => ({ since: ago(10).toISOString(), until: new Date(Date.now() + MINUTE_MS).toISOString() })

test('as a check of operators it says when every event has its delivery', async () => {
  const { workspaceId, publish, event } = await subscribed()
  await publish(event(), event(), event())
  const { state, checked, found } = await run('reconcile', { ...lately(), workspace: workspaceId })
  expect([state, found]).toEqual(['SUCCEEDED', 0])
  expect(checked).toMatchObject({
    events: 3,
    dead_letters: 0,
    delivered: 3,
    pending: 0,
    not_yet_consumed: 0,
    missing: 0,
  })
})

test('a stored URL that cannot be read any more makes no difference', async () => {
  const { workspaceId, endpoint, publish, event } = await subscribed()
  await publish(event())
  await admin`update endpoint set url = 'https://' where id = ${endpoint.id}`
  const { state, found } = await run('reconcile', { ...lately(), workspace: workspaceId })
  expect([state, found]).toEqual(['SUCCEEDED', 0])
})

test('without a time it compares the events of the last day', async () => {
  const { workspaceId, event } = await subscribed()
  const events = [23, 25].map((hours) => event({ occurred_at: ago(hours * 60).toISOString() }))
  await kafka.produce(events.map((each) => recordOf(each)))
  expect(await run('reconcile', { workspace: workspaceId })).toMatchObject({ checked: { events: 1 } })
})

test('a delivery that is not there is found with its workspace, event, type and endpoint', async () => {
  const { workspaceId, endpoint, publish, event } = await subscribed()
  const lost = event()
  await publish(event(), lost)
  await admin`delete from delivery where event_id = ${lost.id}`
  const missing = { problem: 'missing', workspace: workspaceId, event: lost.id, type: lost.type, endpoint: endpoint.id }
  const { found, checked, findings } = await run('reconcile', { ...lately(), workspace: workspaceId })
  expect([found, checked.missing, findings]).toEqual([1, 1, [missing]])
})

test('it reads the topics of another prefix, such as those from before a restore', async () => {
  const { workspaceId, event } = await subscribed()
  const former = await testKafka(TOPICS_READ)
  await former.kafka.produce([recordOf(event()), recordOf(event())])
  const parameters = { ...lately(), workspace: workspaceId }
  expect(await run('reconcile', parameters)).toMatchObject({ checked: { events: 0 } })
  const ofFormer = await run('reconcile', { ...parameters, kafka_prefix: former.prefix })
  expect(ofFormer).toMatchObject({ checked: { events: 2, not_yet_consumed: 2 } })
  const unknown = await run('reconcile', { ...parameters, kafka_prefix: 'nobody.' })
  expect(unknown).toMatchObject({ state: 'FAILED', error: expect.stringContaining('topic') })
})

test('a record that came twice is one event with one delivery', async () => {
  const { workspaceId, delivered, event } = await subscribed()
  const [twice, once] = [event(), event()]
  await kafka.produce([recordOf(twice, 'one key'), recordOf(once, 'one key'), recordOf(twice, 'one key')])
  await delivered(2)
  expect(await reconcile(workspaceId)).toMatchObject({ events: 2, outcomes: [['DELIVERED', 2]], reported: [] })
})

test('what went to the dead letters is counted there, whether it cannot be read or cannot be stored', async () => {
  const { workspaceId, publish, event } = await subscribed()
  const before = await reconcile('', { workspaceId: undefined })
  await kafka.produce([
    { ...recordOf(event()), value: Buffer.from('no record') },
    { ...recordOf(event({ type: 'bundle.exploded' })), topic: TOPICS.platformEvents },
    recordOf(event(), 'a\0b'),
  ])
  await publish(event())
  await eventually('the fan-out has passed all of them', async () => {
    const positions = await kafka.positions(FAN_OUT, EVENT_TOPICS)
    return positions.every(({ lag }) => lag === 0)
  })
  const after = await reconcile('', { workspaceId: undefined })
  expect(after.deadLetters - before.deadLetters).toBe(3)
  expect(await reconcile(workspaceId)).toMatchObject({ events: 1, deadLetters: 1, reported: [] })
})

test('of an endpoint that was changed since it is unknown what it asked for, and nothing is missing', async () => {
  const { workspaceId, caller, endpoint, publish, event } = await subscribed()
  await publish(event(), event())
  await admin`delete from delivery where workspace_id = ${workspaceId}`
  await send(caller, 'PUT', `/v1/webhooks/${endpoint.id}`, { enabled_events: ['tag.created'] })
  expect(await reconcile(workspaceId)).toMatchObject({ outcomes: [['unknown', 2]], reported: [] })
  await admin`delete from endpoint where id = ${endpoint.id}`
  expect(await reconcile(workspaceId)).toMatchObject({ events: 2, outcomes: [], reported: [] })
})

test('an endpoint that was made in the moment of an event need not have it', async () => {
  const { workspaceId, endpoint, publish, event } = await subscribed()
  const made = event()
  await publish(made)
  await admin`delete from delivery where workspace_id = ${workspaceId}`
  await setAge(endpoint, new Date(made.occurred_at), new Date(made.occurred_at))
  expect(await reconcile(workspaceId)).toMatchObject({ outcomes: [['unknown', 1]], reported: [] })
})

test('events that the fan-out has not come to are not yet consumed, and not missing', async () => {
  const { workspaceId, event } = await subscribed()
  const idle = await testKafka(TOPICS_READ)
  await idle.kafka.produce([event(), event()].map((each) => recordOf(each)))
  expect(await reconcile(workspaceId, {}, idle.open())).toMatchObject({ outcomes: [['unconsumed', 2]], reported: [] })
})

test('events count by when they occurred: from the beginning of the range on, and before its end', async () => {
  const { workspaceId, publish, event } = await subscribed()
  const since = ago(5)
  const until = ago(4)
  const at = (time: Date, ms: number) => event({ occurred_at: new Date(time.getTime() + ms).toISOString() })
  await publish(at(since, -1), at(since, 0), at(until, -1), at(until, 0))
  const late = { since, until, marginMs: 10 * MINUTE_MS }
  expect(await reconcile(workspaceId, late)).toMatchObject({ events: 2, outcomes: [['DELIVERED', 2]] })
  // Published long after it occurred, so that only a margin finds it.
  expect(await reconcile(workspaceId, { ...late, marginMs: 0 })).toMatchObject({ events: 0 })
})

test('a ping is no event of Kafka and not judged', async () => {
  const { workspaceId, caller, endpoint, delivered } = await subscribed()
  await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  await delivered(1)
  await admin`delete from event where workspace_id = ${workspaceId}`
  expect(await reconcile(workspaceId)).toMatchObject({ events: 0, outcomes: [], reported: [] })
})

test('what the table says of a delivery has to agree: its event, its attempts, their success', async () => {
  const { workspaceId, publish, event } = await subscribed()
  const [eventless, miscounted, unsuccessful] = [event(), event(), event()]
  await publish(eventless, miscounted, unsuccessful)
  await admin`delete from event where id = ${eventless.id}`
  await admin`update delivery set attempts_made = 2 where event_id = ${miscounted.id}`
  await admin`
    update attempt set error_class = 'status' from delivery
    where delivery.id = attempt.delivery_id and delivery.event_id = ${unsuccessful.id}`
  const { reported } = await reconcile(workspaceId)
  expect(new Map(reported.map(([discrepancy, { eventId }]) => [discrepancy, eventId]))).toEqual(
    new Map([
      ['no_event', eventless.id],
      ['attempts', miscounted.id],
      ['no_success', unsuccessful.id],
    ]),
  )
})

test('a delivery that waits for its time is overdue once that is so long past, unless a former owner has it in flight', async () => {
  const { workspaceId, event } = await subscribed()
  receiver.answerWith((response) => response.writeHead(503).end())
  whenDone(() => receiver.answerWith((response) => response.writeHead(204).end()))
  await kafka.produce([recordOf(event())])
  await eventually('it waits for its second attempt', async () => {
    const rows = await admin`select from delivery where workspace_id = ${workspaceId} and attempts_made = 1`
    return rows.length === 1
  })
  expect(await reconcile(workspaceId)).toMatchObject({ outcomes: [['PENDING', 1]], reported: [] })
  // The state that a run in an hour would find.
  const inAnHour = { overdueMs: -60 * MINUTE_MS }
  expect(await reconcile(workspaceId, inAnHour)).toMatchObject({
    outcomes: [['PENDING', 1]],
    discrepancies: [['overdue', 1]],
  })
  await admin`update delivery set busy_until = now() + interval '1 minute' where workspace_id = ${workspaceId}`
  expect(await reconcile(workspaceId, inAnHour)).toMatchObject({ reported: [] })
})

test('a delivery of a disabled endpoint waits as it should, and is overdue so long after it was enabled', async () => {
  const { workspaceId, caller, endpoint, event } = await subscribed()
  await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/disable`)
  await kafka.produce([recordOf(event())])
  await eventually('it waits', async () => {
    const rows = await admin`select from delivery where workspace_id = ${workspaceId}`
    return rows.length === 1
  })
  const inAnHour = { overdueMs: -60 * MINUTE_MS }
  expect(await reconcile(workspaceId, inAnHour)).toMatchObject({ outcomes: [['PENDING', 1]], reported: [] })
  // No replica hears that it is enabled, so the delivery goes on waiting.
  await admin`update delivery set next_attempt_at = ${ago(60)} where workspace_id = ${workspaceId}`
  await admin`
    update endpoint_health set state = 'ACTIVE', since = clock_timestamp() where endpoint_id = ${endpoint.id}`
  expect(await reconcile(workspaceId)).toMatchObject({ reported: [] })
  await admin`update endpoint_health set since = ${ago(2)} where endpoint_id = ${endpoint.id}`
  expect(await reconcile(workspaceId)).toMatchObject({ discrepancies: [['overdue', 1]] })
})

test('the number of statements does not grow with the number of events', async () => {
  const { workspaceId, publish, event } = await subscribed()
  const count = async () => {
    statements.length = 0
    await reconcile(workspaceId)
    return statements.length
  }
  await publish(event())
  const one = await count()
  await kafka.produce(Array.from({ length: 300 }, () => recordOf(event())))
  await eventually('all are there', async () => {
    const rows = await admin`select from delivery where workspace_id = ${workspaceId} and status = 'DELIVERED'`
    return rows.length === 301
  })
  expect(await count()).toBe(one)
  expect(one).toBe(3)
})

test.each([
  ['without an end', { until: '' }, 'until: '],
  ['with a range that ends before it begins', { since: '2999-01-01T00:00:00Z' }, 'since: must be before until'],
  ['with a range that Kafka no longer has', { since: ago(8 * 24 * 60).toISOString() }, 'since: lies more than 7 days'],
  ['with a workspace that is none', { workspace: 'mine' }, 'workspace: must be a UUID'],
  ['with a prefix that is none', { kafka_prefix: '../' }, 'kafka_prefix: must be a prefix'],
  ['with a parameter that is none', { everything: 'yes' }, 'everything: unknown member'],
])('a run %s is refused', async (_, parameters, reason) => {
  const { status, body } = await ask('reconcile', { ...lately(), ...parameters })
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(reason)])
})

test('without Kafka a run fails and says so', async () => {
  const away = reconcileCheck({ ...config, KAFKA_BROKERS: ['127.0.0.1:1'] }, silent)
  await expect(away.run({ sql: worker.sql, parameters: {}, report: () => undefined })).rejects.toThrow('ECONNREFUSED')
})
