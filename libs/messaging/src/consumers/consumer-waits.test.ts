import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

const notes = await testConsumer()

/** Ends the consumer's connections and lets it make no new ones until called again. */
async function closeDatabase() {
  const [{ name }] = await notes.admin<[{ name: string }]>`select current_database() as name`
  await notes.admin`alter database ${notes.admin(name)} connection limit 0`
  await notes.admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test consumer'`
  return () => notes.admin`alter database ${notes.admin(name)} connection limit -1`
}

test('records wait while the database takes no connections; none is given up and nothing counts as stalled', async () => {
  const dead = notes.deadLetters()
  const stalledAfterMs = 2500
  await notes.start(notes.insert, { stalledAfterMs })
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
