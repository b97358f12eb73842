import { unprocessable } from '@backoffice/contracts/errors.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import type { Kafka } from '../kafka/kafka-connection.ts'
import { testConsumer } from './testing/consumer.ts'

const notes = await testConsumer()
const dead = notes.deadLetters()
const stalledAfterMs = 6000
const warn = vi.fn()
const logger = Object.assign(createLogger('test', 'silent'), { warn })
let isRefused = false
const produce: Kafka['produce'] = async (records) => {
  if (isRefused) throw Object.assign(new Error('no dead letters'), { code: 'EPIPE' })
  await notes.kafka.produce(records)
}
await notes.start(
  async (records, tx) => {
    if (records.some(({ value }) => value.name === 'poison')) throw unprocessable(['name'], 'is poison')
    return notes.insert(records, tx)
  },
  { stalledAfterMs, logger, kafka: { ...notes.kafka, produce } },
)

/** Ends the consumer's connections and lets it make no new ones until called again. */
async function closeDatabase() {
  const [{ name }] = await notes.admin<[{ name: string }]>`select current_database() as name`
  await notes.admin`alter database ${notes.admin(name)} connection limit 0`
  await notes.admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'test consumer'`
  return () => notes.admin`alter database ${notes.admin(name)} connection limit -1`
}

test('records wait while the database takes no connections; none is given up and nothing counts as stalled', async () => {
  const [key, other] = [notes.aKey(), notes.aKey()]
  await notes.send(key, 'before')
  await notes.notesOf(key, 1)

  const reopen = await closeDatabase()
  await notes.send(key, 'while it was away')
  await notes.send(other, 'as well')
  const closedAt = performance.now()
  await eventually('twice what counts as stalled', () => performance.now() - closedAt > 2 * stalledAfterMs)
  await reopen()

  expect(await notes.notesOf(key, 2)).toEqual(['before', 'while it was away'])
  expect(await notes.notesOf(other, 1)).toEqual(['as well'])
  expect(dead.records).toEqual([])
  expect(notes.fatals).toEqual([])
})

/** Makes PostgreSQL refuse writes, as after a fail-over or with a full disk, until called again. */
async function refuseWrites() {
  const [{ name }] = await notes.admin<[{ name: string }]>`select current_database() as name`
  await notes.admin`alter database ${notes.admin(name)} set default_transaction_read_only = on`
  await replaceConnections()
  return async () => {
    await notes.admin`alter database ${notes.admin(name)} reset default_transaction_read_only`
    await replaceConnections()
  }
}

/** Ends the consumer's connections of before: the next ones have the database's new settings. */
async function replaceConnections() {
  const [{ now }] = await notes.admin<[{ now: Date }]>`select now()`
  await eventually('the connections are new', async () => {
    const old = await notes.admin`
      select case when state = 'idle' then pg_terminate_backend(pid) end from pg_stat_activity
      where datname = current_database() and application_name = 'test consumer' and backend_start < ${now}`
    return old.length === 0
  })
}

test('records wait while PostgreSQL is read-only: none of 50 goes to the dead letters', async () => {
  const key = notes.aKey()
  const names = Array.from({ length: 50 }, (_, index) => String(index))
  const allowWrites = await refuseWrites()
  await notes.send(key, ...names)
  await eventually('they wait', async () => Number(waiting.exec(await metricsText())?.[1] ?? 0) > 2)
  await allowWrites()
  expect(await notes.notesOf(key, 50)).toEqual(names)
  expect(dead.records).toEqual([])
  expect(notes.fatals).toEqual([])
})

test('records that wait for a lock are measured, and logged once they have waited for some time', async () => {
  const key = notes.aKey()
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  whenDone(() => held.resolve())
  const holding = notes.admin.begin(async (tx) => {
    await tx`lock table note in share row exclusive mode`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  await notes.send(key, 'waits')
  await eventually('they wait', async () => Number(waiting.exec(await metricsText())?.[1] ?? 0) > 2, 20_000)
  const ofLock = expect.objectContaining({ err: expect.objectContaining({ code: '55P03' }), topic: 'notes' })
  await eventually('it is logged', () => warn.mock.calls.some(([details]) => ofLock.asymmetricMatch(details)))
  held.resolve()
  await holding
  expect(await notes.notesOf(key, 1)).toEqual(['waits'])
  expect(notes.fatals).toEqual([])
})

test('a record waits while there are no dead letters for it: other partitions go on, and its reason is kept', async () => {
  const [sick, healthy] = await notes.keysOfTwoPartitions()
  isRefused = true
  await notes.send(sick.key, 'poison', 'after')
  await eventually('it waits', async () => Number(waiting.exec(await metricsText())?.[1] ?? 0) > 2, 20_000)
  await notes.send(healthy.key, 'meanwhile')
  expect(await notes.notesOf(healthy.key, 2, 20_000)).toEqual(['where', 'meanwhile'])
  isRefused = false
  const letters = await dead.atLeast(2)
  expect(letters.map(({ headers }) => String(headers['dead-letter-reason']))).toEqual([
    'name: is poison',
    'an earlier record of its key is here',
  ])
  expect(notes.fatals).toEqual([])
})

/** How long the consumer's records have waited. */
const waiting = /^consumer_waiting_seconds\{consumer="test\.notes"[^}]*\} ([\d.]+)$/m
