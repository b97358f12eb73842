import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

const notes = await testConsumer()

test('a process that is killed after a commit, before that of the offset, is replaced at once, and its records come again, once written', async () => {
  const key = notes.aKey()
  await notes.send(key, 'one', 'two')
  const killed = fork(
    fileURLToPath(new URL('./testing/crashing-consumer.ts', import.meta.url)),
    [backingServices().kafkaBrokers.join(), notes.prefix, notes.name, notes.workerUrl],
    { execArgv: [] },
  )
  const [, signal] = await once(killed, 'exit')
  expect(signal).toBe('SIGKILL')
  expect(await notes.notesOf(key, 2)).toEqual(['one', 'two'])

  const again: string[] = []
  await notes.start(async (records, tx) => {
    again.push(...records.map(({ value }) => value.name))
    return notes.insert(records, tx)
  })
  await notes.send(key, 'three')
  expect(await notes.notesOf(key, 3)).toEqual(['one', 'two', 'three'])
  expect(again).toEqual(['one', 'two', 'three'])
})
