import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { AGAIN } from './consumer-definition.ts'
import { testConsumer } from './testing/consumer.ts'

test('a record that takes several transactions comes again after each, and other partitions are processed between', async () => {
  const notes = await testConsumer()
  const [long, other] = await notes.keysOfTwoPartitions()
  let transactions = 0
  let isOtherDone = false
  await notes.start(
    async (records, tx) => {
      isOtherDone ||= records.some(({ value }) => value.name === 'meanwhile')
      if (!records.some(({ value }) => value.name === 'long')) return notes.insert(records, tx)
      await tx`insert into note (key, name) values (${long.key}, ${`transaction ${++transactions}`})`
      return () => (isOtherDone ? undefined : AGAIN)
    },
    {},
    { batchSize: 1 },
  )
  await notes.send(long.key, 'long', 'after it')
  await notes.notesOf(long.key, 3)
  await notes.send(other.key, 'meanwhile')
  await notes.notesOf(other.key, 2)
  const all = await eventually('what comes after it', async () => {
    const names = await notes.notesOf(long.key, 3)
    return names.at(-1) === 'after it' && names
  })
  const taken = Array.from({ length: transactions }, (_, index) => `transaction ${index + 1}`)
  expect(all).toEqual(['where', ...taken, 'after it'])
  expect(transactions).toBeGreaterThan(1)
  expect(notes.fatals).toEqual([])
})
