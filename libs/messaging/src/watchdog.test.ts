import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

test('a consumer that does nothing while records wait ends the process', async () => {
  const notes = await testConsumer()
  const { promise: stalled, resolve } = Promise.withResolvers<undefined>()
  await notes.start(() => stalled, { stalledAfterMs: 600 })
  await notes.send(notes.aKey(), 'never handled')
  await eventually('the process is ended', () => notes.fatals.length > 0)
  expect(notes.fatals[0]).toMatch(/^consumer test\.notes is stalled at notes\/\d$/)
  resolve(undefined)
})

test('a consumer that has nothing to do is left alone', async () => {
  const notes = await testConsumer()
  await notes.start(notes.insert, { stalledAfterMs: 120 })
  const key = notes.aKey()
  await notes.send(key, 'handled')
  await notes.notesOf(key, 1)
  const handledAt = performance.now()
  await eventually('twenty times what counts as stalled', () => performance.now() - handledAt > 20 * 120)
  expect(notes.fatals).toEqual([])
})
