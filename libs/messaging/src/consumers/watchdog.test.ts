import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

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
  const key = notes.aKey()
  const names = Array.from({ length: 20 }, (_, index) => String(index))
  await notes.send(key, ...names)
  // One transaction after the other handles the batch, since the handler takes no two records at once.
  await notes.start(
    async (records, tx) => {
      if (records.length > 1) throw new Error('one at a time')
      await tx`select pg_sleep(0.15)`
      return notes.insert(records, tx)
    },
    { stalledAfterMs: 1500 },
  )
  expect(await notes.notesOf(key, 20, 30_000)).toEqual(names)
  expect(notes.fatals).toEqual([])
})
