import { randomUUID } from 'node:crypto'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { decodeRecord } from '../consumers/received-records.ts'
import { createTopics } from '../kafka/create-topics.ts'
import { aTopic, collect, silent, testKafka } from '../kafka/testing/kafka.ts'
import { type RecordSerializer, recordSerializer } from '../registry/schema-registry.ts'
import { registeredSchemas } from '../registry/testing/registered-schemas.ts'
import { outboxRelay } from './relay.ts'
import { TRACEPARENT, testOutbox } from './testing/outbox.ts'

const [{ kafka, prefix }, outbox] = await Promise.all([
  testKafka([aTopic('catalog.products', { 'cleanup.policy': 'compact' })]),
  testOutbox(),
  registeredSchemas(),
])
const REASON = 'catalog.events: This server does not host this topic-partition'

/** The types whose schemas cannot be read now. */
const away = new Set<string>()
const registered = recordSerializer(backingServices().registryUrl)
const serialize: RecordSerializer = async (topic, value, json) => {
  if (away.has(value.type)) throw new Error('the registry does not answer')
  return registered(topic, value, json)
}

async function aRelay() {
  const lines: { topic?: string; reason?: string }[] = []
  const logger = { ...silent, info: silent.info, warn: silent.warn, error: (line: object) => void lines.push(line) }
  const relay = outboxRelay({ url: outbox.workerUrl, schema: 'catalog', kafka, serialize, logger: logger as never })
  whenDone(() => relay.stop())
  await relay.start()
  return { relay, lines }
}

/** Adds a state without payload, in the workspace of the outbox. */
const addState = (key: string) => outbox.admin`
  insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
  values (${randomUUID()}, 'catalog.products', 'product.state', ${key}, ${outbox.context.workspaceId}, true, null, ${TRACEPARENT}, now())`
const rowsOf = (key: string) => outbox.admin`select * from outbox where key = ${key} order by id`
const isHeld = (key: string) =>
  eventually('the rows are held', async () => {
    const rows = await rowsOf(key)
    return rows.every(({ retry_at }) => retry_at instanceof Date) && rows
  })

test('the rows of a topic that Kafka does not have wait for it, in order and without end; other topics go on', async () => {
  const [key, state] = [randomUUID(), randomUUID()]
  await outbox.add(key, 'first')
  await addState(state)
  const failures = async () =>
    Number(
      /^outbox_topic_failures_total\{schema="catalog",topic="catalog\.events"[^}]*\} (\d+)$/m.exec(
        await metricsText(),
      )?.[1] ?? 0,
    )
  const before = await failures()
  const { relay, lines } = await aRelay()
  const states = collect(kafka, 'catalog.products')
  expect((await states.atLeast(1)).map((record) => record.key)).toEqual([state])

  await isHeld(key)
  expect(lines[0]).toMatchObject({ topic: 'catalog.events', reason: REASON })
  expect(await failures()).toBeGreaterThan(before)
  await outbox.add(key, 'second')
  relay.wake()
  await isHeld(key)
  await outbox.admin`update outbox set held_since = now() - interval '2 hours', retry_at = now() where key = ${key}`
  await eventually('it was tried again', async () => {
    const [row] = await rowsOf(key)
    return row?.retry_at instanceof Date && row.retry_at.getTime() > Date.now()
  })

  await createTopics(backingServices().kafkaBrokers, [aTopic('catalog.events')], { prefix, replicationFactor: 1 })
  await outbox.admin`update outbox set retry_at = now() where key = ${key}`
  const events = collect(kafka, 'catalog.events')
  const names = (await events.atLeast(2)).map(({ value }) => decodeRecord(value ?? Buffer.alloc(0)))
  expect(names).toMatchObject([{ data: { name: 'first' } }, { data: { name: 'second' } }])
})

test('the rows whose schema cannot be read wait for the registry without end, and for an hour after it; others go on', async () => {
  const [key, state, type] = [randomUUID(), randomUUID(), `test.${randomUUID()}`]
  await aRelay()
  away.add('tag.created')
  await outbox.add(key, 'waits')
  await outbox.admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
    values (${randomUUID()}, 'catalog.events', ${type}, ${key}, ${outbox.context.workspaceId}, true, '{}', ${TRACEPARENT}, now())`
  expect((await isHeld(key))[0]).toMatchObject({ refused: 'the registry does not answer' })
  await outbox.admin`update outbox set held_since = now() - interval '2 hours', retry_at = now() where key = ${key}`
  await eventually('it was tried again', async () => {
    const [row] = await rowsOf(key)
    return row?.retry_at instanceof Date && row.retry_at.getTime() > Date.now()
  })
  await addState(state)
  await collect(kafka, 'catalog.products').atLeast(2)

  away.clear()
  await outbox.admin`update outbox set retry_at = now() where key = ${key}`
  const events = collect(kafka, 'catalog.events')
  await eventually('it is sent', () => events.records.some((record) => record.key === key))
  // The other row waits for a schema that nobody has registered.
  const late = await eventually('the other row is tried', async () => {
    const [, row] = await rowsOf(key)
    return row?.refused?.endsWith('has no schema') && row
  })
  expect(late.retry_at).toBeInstanceOf(Date)
})
