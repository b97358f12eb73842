import { randomUUID } from 'node:crypto'
import { EventRecord } from '@backoffice/contracts/events.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { decodeRecord } from '../consumers/received-records.ts'
import type { IncomingRecord, Kafka } from '../kafka/kafka-connection.ts'
import { aTopic, collect, silent, testKafka } from '../kafka/testing/kafka.ts'
import { registerSchemas } from '../registry/register-schemas.ts'
import { recordSerializer } from '../registry/schema-registry.ts'
import { registeredSchemas } from '../registry/testing/registered-schemas.ts'
import { refusedRows, resendRefused } from './refused-rows.ts'
import { outboxRelay } from './relay.ts'
import { TRACEPARENT, testOutbox } from './testing/outbox.ts'

const topics = [
  aTopic('catalog.events', { 'max.message.bytes': '20000' }),
  aTopic('catalog.products', { 'cleanup.policy': 'compact' }),
]
const [{ kafka, open }, outbox] = await Promise.all([testKafka(topics), testOutbox(), registeredSchemas()])
const events = collect(kafka, 'catalog.events')

/** A relay that only its wake-ups move: nothing is found by looking now and then. */
function aRelay(through: Kafka = kafka) {
  const relay = outboxRelay({
    url: outbox.workerUrl,
    schema: 'catalog',
    kafka: through,
    serialize: recordSerializer(backingServices().registryUrl),
    logger: silent,
    pollMs: 60_000,
    refuseAfterMs: 0,
  })
  whenDone(() => relay.stop())
  return relay
}

const contentOf = (record: IncomingRecord) =>
  decodeRecord(record.value ?? Buffer.alloc(0)) as { data: { name: string } }
const namesOf = (records: IncomingRecord[], key: string) =>
  records.filter((record) => record.key === key).map((record) => contentOf(record).data.name)

/** Waits until the events of a key are all there, and returns their names in the order they came. */
const eventsOf = (key: string, count: number) =>
  eventually(`${count} events of ${key}`, () => {
    const names = namesOf(events.records, key)
    return names.length >= count && names
  })

const relay = aRelay()
await relay.start()

test('a committed row becomes a record of the registered shape under its key, with its trace', async () => {
  const key = randomUUID()
  await outbox.add(key, 'summer')
  relay.wake()
  await eventsOf(key, 1)
  const record = events.records.find((each) => each.key === key)
  const [row] = await outbox.admin`select event_id, occurred_at from outbox where key = ${key}`
  expect(record && contentOf(record)).toEqual({
    id: row?.event_id,
    type: 'tag.created',
    workspace_id: outbox.context.workspaceId,
    livemode: true,
    occurred_at: row?.occurred_at.toISOString(),
    data: { id: key, name: 'summer', slug: 'summer' },
  })
  expect(record?.headers.traceparent?.toString()).toBe(TRACEPARENT)
})

test('a row is marked once Kafka has it', async () => {
  const key = randomUUID()
  await outbox.add(key, 'marked')
  relay.wake()
  await eventsOf(key, 1)
  await outbox.untilEmpty()
  const [row] = await outbox.admin`select published_at from outbox where key = ${key}`
  expect(row?.published_at).toBeInstanceOf(Date)
})

test('records of a key come in the order of their commits', async () => {
  const keys = [randomUUID(), randomUUID(), randomUUID()]
  // Below the topic's `max.message.bytes`: the relay halves what is refused, and what a partition took comes twice.
  const names = Array.from({ length: 15 }, (_, index) => String(index))
  await Promise.all(
    keys.map(async (key) => {
      for (const name of names) {
        await outbox.add(key, name)
        relay.wake()
      }
    }),
  )
  for (const key of keys) expect(await eventsOf(key, names.length)).toEqual(names)
})

test('more rows than a batch holds come in their order', async () => {
  const key = randomUUID()
  const names = Array.from({ length: 450 }, (_, index) => String(index))
  await outbox.db.inWorkspace(outbox.context, async (tx) => {
    for (const name of names) await outbox.addTo(tx, key, name)
  })
  relay.wake()
  expect(await eventsOf(key, names.length)).toEqual(names)
})

test('a row that is committed after one with a larger id is not passed over', async () => {
  const [early, late] = [randomUUID(), randomUUID()]
  await outbox.db.inWorkspace(outbox.context, async (tx) => {
    await outbox.addTo(tx, early, 'first id')
    await outbox.add(late, 'second id')
    relay.wake()
    await eventsOf(late, 1)
    expect(namesOf(events.records, early)).toEqual([])
  })
  relay.wake()
  expect(await eventsOf(early, 1)).toEqual(['first id'])
})

test('a row without payload is a tombstone', async () => {
  const states = collect(kafka, 'catalog.products')
  const key = randomUUID()
  await outbox.admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
    values (${randomUUID()}, 'catalog.products', 'product.state', ${key}, ${randomUUID()}, true, null, ${TRACEPARENT}, now())`
  relay.wake()
  expect(await states.atLeast(1)).toMatchObject([{ key, value: null }])
})

describe('A row that does not fit the schema of its record', () => {
  const Amount = z.strictObject({ ...EventRecord.shape, data: z.strictObject({ name: z.string() }) })
  /** Adds a row of a type, in a workspace of its own. */
  const add = (type: string, key: string, data: object) => outbox.admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
    values (${randomUUID()}, 'catalog.events', ${type}, ${key}, ${randomUUID()}, true, ${JSON.stringify(data)}::text::json, ${TRACEPARENT}, now())`
  const register = (type: string, shape: z.ZodType) =>
    registerSchemas(backingServices().registryUrl, { 'catalog.events': { [type]: shape } })
  const rowOf = async (key: string) => {
    const [row] = await outbox.admin`select * from outbox where key = ${key} order by id limit 1`
    return row
  }

  test.each([
    ['has a member that only a later schema has', true],
    ['is of a type that the registry does not know yet', false],
  ])('waits when it %s, holds up nobody else, and is published once the schema is there', async (_, isKnown) => {
    const [type, key, fine] = [`test.${randomUUID()}`, randomUUID(), randomUUID()]
    if (isKnown) await register(type, Amount)
    await add(type, key, { name: 'first', colour: 'red' })
    await add('tag.created', key, { id: key, name: 'second', slug: 'second' })
    await outbox.add(fine, 'fine')
    relay.wake()
    expect(await eventsOf(fine, 1)).toEqual(['fine'])
    await eventually('the row is held', async () => (await rowOf(key))?.retry_at instanceof Date)
    await register(type, Amount.extend({ data: Amount.shape.data.extend({ colour: z.string().optional() }) }))
    expect(await eventsOf(key, 2)).toEqual(['first', 'second'])
  })

  test('is refused after an hour; later records of its key overtake it, and it is sent again when it is named', async () => {
    const [type, key] = [`test.${randomUUID()}`, randomUUID()]
    await add(type, key, { name: 'late' })
    relay.wake()
    const { id, refused } = await eventually('the row is held', async () => {
      const row = await rowOf(key)
      return row?.retry_at instanceof Date && row
    })
    expect(refused).toContain('has no schema')
    await outbox.admin`update outbox set held_since = now() - interval '61 minutes' where id = ${id}`
    await eventually('the row is refused', async () => (await rowOf(key))?.retry_at === null)
    await outbox.add(key, 'later')
    relay.wake()
    expect(await eventsOf(key, 1)).toEqual(['later'])
    await eventually('the row is overtaken', async () => (await rowOf(key))?.overtaken === true)

    await register(type, Amount)
    const { sql } = openDatabase({ url: outbox.workerUrl, applicationName: 'operator', poolSize: 1 })
    whenDone(() => sql.end())
    expect(await refusedRows(sql, { limit: 10 })).toContainEqual(expect.objectContaining({ id, key, overtaken: true }))
    expect(await resendRefused(sql, [])).toBe(0)
    expect(await resendRefused(sql, [id])).toBe(1)
    relay.wake()
    expect(await eventsOf(key, 2)).toEqual(['later', 'late'])
  })
})

test('many refused rows are sent again a batch after a batch', async () => {
  const { admin, workerUrl } = await testOutbox()
  const { sql } = openDatabase({ url: workerUrl, applicationName: 'operator', poolSize: 1 })
  whenDone(() => sql.end())
  await admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at, refused)
    select gen_random_uuid(), 'catalog.events', 'tag.created', n, ${randomUUID()}, true, '{}', ${TRACEPARENT}, now(), 'large'
    from generate_series(1, 5001) as n`
  const refused = async () => (await admin`select from outbox where refused is not null`).length
  let resent: Promise<number> | undefined
  await admin.begin(async (tx) => {
    await tx`select from outbox order by id desc limit 1 for update`
    resent = resendRefused(sql, [])
    await eventually('the first batch is sent again', async () => (await refused()) === 1)
  })
  expect(await resent).toBe(5001)
  expect(await refused()).toBe(0)
})

test('a record too large for its topic is set aside, and the others of its batch are published', async () => {
  const [before, large, after] = [randomUUID(), randomUUID(), randomUUID()]
  await outbox.db.inWorkspace(outbox.context, async (tx) => {
    await outbox.addTo(tx, before, 'before')
    await outbox.addTo(tx, large, 'x'.repeat(50_000))
    await outbox.addTo(tx, after, 'after')
  })
  relay.wake()
  expect(await eventsOf(before, 1)).toContain('before')
  expect(await eventsOf(after, 1)).toContain('after')
  await outbox.untilEmpty()
  const [row] = await outbox.admin`select refused from outbox where key = ${large}`
  expect(row?.refused).toContain('larger than the max message size')
})

test('what was published and refused and what waits is measured', async () => {
  const text = await eventually('the metrics', async () => {
    const text = await metricsText()
    return text.includes('outbox_oldest_waiting_seconds{schema="catalog"') && text
  })
  expect(text).toMatch(/outbox_published_records_total\{schema="catalog"[^}]*\} \d+/)
  expect(text).toMatch(/outbox_refused_records_total\{schema="catalog",topic="catalog.events"[^}]*\} 2$/m)
  expect(text).toMatch(/outbox_refused_rows\{schema="catalog"[^}]*\} \d+/)
  expect(text).toMatch(/outbox_waiting_rows\{schema="catalog"[^}]*\} \d+/)
})

test('a process that stands by wakes the one that leads', async () => {
  const standby = aRelay(open())
  await standby.start()
  const key = randomUUID()
  await outbox.add(key, 'told')
  standby.wake()
  expect(await eventsOf(key, 1)).toEqual(['told'])
  await standby.stop()
})

test('of two relays only one publishes', async () => {
  const standby = aRelay(open())
  await standby.start()
  const key = randomUUID()
  const names = Array.from({ length: 60 }, (_, index) => String(index))
  for (const name of names) {
    await outbox.add(key, name)
    relay.wake()
    standby.wake()
  }
  await outbox.untilEmpty()
  expect(await eventsOf(key, names.length)).toEqual(names)
  await standby.stop()
})

test('when the leader’s connection is gone one relay leads again, and nothing is lost', async () => {
  const standby = aRelay(open())
  await standby.start()
  const leaders = () =>
    outbox.admin<{ pid: number }[]>`
      select l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and a.datname = current_database()`
  const [first] = await leaders()
  await outbox.admin`select pg_terminate_backend(${first?.pid ?? 0}, 10_000)`
  const key = randomUUID()
  await outbox.add(key, 'after the takeover')
  const [second, ...others] = await eventually('a leader', async () => {
    const found = await leaders()
    return found.length > 0 && found
  })
  expect(second?.pid).not.toBe(first?.pid)
  expect(others).toEqual([])
  relay.wake()
  standby.wake()
  expect(await eventsOf(key, 1)).toContain('after the takeover')
  await standby.stop()
})

test('a relay that stops finishes its batch and leaves the lead to another', async () => {
  await relay.stop()
  const next = aRelay(open())
  await next.start()
  const key = randomUUID()
  await outbox.add(key, 'next')
  next.wake()
  expect(await eventsOf(key, 1)).toEqual(['next'])
  await next.stop()
})
