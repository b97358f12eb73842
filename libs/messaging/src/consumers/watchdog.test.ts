import { eventually } from '@backoffice/testing/eventually.ts'
import type { TransactionSql } from 'postgres'
import { expect, test } from 'vitest'
import type { Kafka } from '../kafka/kafka-connection.ts'
import type { ReceivedRecord } from './received-records.ts'
import { testConsumer } from './testing/consumer.ts'
import type { Note } from './testing/note.ts'

test('a consumer that does nothing while records wait ends the process', async () => {
  const notes = await testConsumer()
  const { promise: stalled, resolve } = Promise.withResolvers<undefined>()
  await notes.start(() => stalled, { stalledAfterMs: 600 })
  await notes.send(notes.aKey(), 'never handled')
  // Before the consumer has joined, the records of the whole group wait.
  const ofPartition = /^consumer test\.notes is stalled at notes\/\d$/
  await eventually('the process is ended', () => notes.fatals.some((reason) => ofPartition.test(reason)))
  resolve(undefined)
})

test('the tries of one partition do not hide that nothing comes of another', async () => {
  const notes = await testConsumer()
  const [waiting, stuck] = await notes.keysOfTwoPartitions()
  // What kafkajs does after some rebalances.
  const consume: Kafka['consume'] = (options) =>
    notes.kafka.consume({
      ...options,
      onBatch: async (batch) =>
        batch.partition === stuck.partition ? batch.coolDown(3_600_000) : options.onBatch(batch),
    })
  const failing = async (records: ReceivedRecord<Note>[], tx: TransactionSql) => {
    if (records.some(({ value }) => value.name === 'waits')) throw Object.assign(new Error('away'), { code: 'EPIPE' })
    return notes.insert(records, tx)
  }
  await notes.start(failing, { stalledAfterMs: 2500, kafka: { ...notes.kafka, consume } })
  await notes.send(waiting.key, 'waits')
  await notes.send(stuck.key, 'is never handled')
  const isFound = () => notes.fatals.includes(`consumer ${notes.name} is stalled at ${stuck.partition}`)
  await eventually('the process is ended', isFound, 30_000)
  expect(notes.fatals.filter((reason) => reason.includes(waiting.partition))).toEqual([])
})

test('a member without partitions is left alone while the records of others wait', async () => {
  const notes = await testConsumer()
  const failing = () => Promise.reject(Object.assign(new Error('away'), { code: 'EPIPE' }))
  const stalledAfterMs = 1200
  for (let member = 0; member < 4; member++) await notes.start(failing, { stalledAfterMs })
  const { name, kafka } = notes
  await eventually('four members', async () => (await kafka.countMembers([name])).get(name) === 4)
  for (let key = 0; key < 12; key++) await notes.send(notes.aKey(), 'waits')
  const startedAt = performance.now()
  await eventually('five times what counts as stalled', () => performance.now() - startedAt > 5 * stalledAfterMs)
  expect(notes.fatals.filter((reason) => reason.includes('whole group'))).toEqual([])
})

test('a consumer that has nothing to do is left alone', async () => {
  const notes = await testConsumer()
  await notes.start(notes.insert, { stalledAfterMs: 120 })
  const key = notes.aKey()
  await notes.send(key, 'handled')
  await notes.notesOf(key, 1)
  await eventually('it has nothing to do', async () =>
    (await notes.kafka.positions(notes.name, ['notes'])).every(({ lag }) => lag === 0),
  )
  notes.fatals.length = 0
  const handledAt = performance.now()
  await eventually('twenty times what counts as stalled', () => performance.now() - handledAt > 20 * 120)
  expect(notes.fatals).toEqual([])
})

test('a consumer whose batch takes longer than what counts as stalled is left alone while its records are processed', async () => {
  const notes = await testConsumer()
  // One transaction after the other handles the batch, since the handler takes no two records at once.
  await notes.start(
    async (records, tx) => {
      if (records.length > 1) throw new Error('one at a time')
      await tx`select pg_sleep(0.5)`
      return notes.insert(records, tx)
    },
    { stalledAfterMs: 6000 },
  )
  const first = notes.aKey()
  await notes.send(first, 'the consumer has its partitions')
  await notes.notesOf(first, 1)
  const key = notes.aKey()
  const names = Array.from({ length: 20 }, (_, index) => String(index))
  await notes.send(key, ...names)
  expect(await notes.notesOf(key, 20)).toEqual(names)
  expect(notes.fatals).toEqual([])
})

test('a record that takes longer than what counts as stalled is no stall while its handler says that it goes on', async () => {
  const notes = await testConsumer()
  const [long, other] = await notes.keysOfTwoPartitions()
  const begun = Promise.withResolvers<void>()
  await notes.start(
    async (records, tx, noteProgress) => {
      if (records.some(({ value }) => value.name === 'long')) {
        begun.resolve()
        for (let step = 0; step < 20; step++) {
          await tx`select pg_sleep(0.25)`
          noteProgress?.()
        }
      }
      return notes.insert(records, tx)
    },
    { stalledAfterMs: 1500 },
  )
  await eventually('its partitions are read', async () =>
    (await notes.kafka.positions(notes.name, ['notes'])).every(({ lag }) => lag === 0),
  )
  // It may have joined late.
  notes.fatals.length = 0
  await notes.send(long.key, 'long')
  await begun.promise
  await notes.send(other.key, 'waits for the end of the long one')
  expect(await notes.notesOf(long.key, 2, 30_000)).toContain('long')
  expect(await notes.notesOf(other.key, 2)).toContain('waits for the end of the long one')
  expect(notes.fatals).toEqual([])
})
