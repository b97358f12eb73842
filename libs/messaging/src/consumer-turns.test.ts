import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, test } from 'vitest'
import type { ConsumerDefinition } from './consumer.ts'
import { testConsumer } from './testing/consumer.ts'
import { collect } from './testing/kafka.ts'
import type { Note } from './testing/note.ts'

const notes = await testConsumer()

/** Keys of two different partitions. */
let [slow, quick] = ['', '']
beforeAll(async () => {
  const seen = collect(notes.kafka, 'notes')
  const keys = Array.from({ length: 20 }, () => notes.aKey())
  for (const key of keys) await notes.send(key, 'where')
  await seen.atLeast(keys.length)
  const [first, ...others] = seen.records
  const second = others.find(({ partition }) => partition !== first?.partition)
  ;[slow, quick] = [first?.key ?? '', second?.key ?? '']
})

let handle: ConsumerDefinition<Note>['handle'] = notes.insert
beforeAll(() => notes.start((records, tx) => handle(records, tx), {}, { batchSize: 1 }))

test('a partition whose records take long gives way: another partition’s record is handled meanwhile', async () => {
  await notes.notesOf(quick, 1)
  await notes.notesOf(slow, 1)
  handle = async (records, tx) => {
    if (records.some(({ key }) => key === slow)) await pause(100)
    return notes.insert(records, tx)
  }
  const names = Array.from({ length: 25 }, (_, n) => String(n))
  await notes.send(slow, ...names)
  await notes.notesOf(slow, 2)
  await notes.send(quick, 'meanwhile')
  expect(await notes.notesOf(slow, 26)).toEqual(['where', ...names])
  const written = await notes.admin<{ name: string }[]>`select name from note where name <> 'where' order by id`
  expect(written.map(({ name }) => name).slice(0, -1)).toContain('meanwhile')
})

test('a transaction that waits for a lock gives way to another partition, and comes again', async () => {
  handle = async (records, tx) => {
    if (records.some(({ key }) => key === slow)) await tx`select pg_advisory_xact_lock(15)`
    return notes.insert(records, tx)
  }
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = notes.admin.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(15)`
    locked.resolve()
    await held.promise
  })
  whenDone(() => held.resolve())
  await locked.promise
  await notes.send(slow, 'waits')
  await eventually('it waits', async () => {
    const [row] = await notes.admin`
      select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
    return row !== undefined
  })
  await notes.send(quick, 'does not wait')
  expect(await notes.notesOf(quick, 3)).toContain('does not wait')
  held.resolve()
  await holding
  expect(await notes.notesOf(slow, 27)).toContain('waits')
  expect(notes.fatals).toEqual([])
})

test('offsets are committed after each transaction, while later records of the batch are handled', async () => {
  const last = Promise.withResolvers<void>()
  whenDone(() => last.resolve())
  handle = async (records, tx) => {
    if (records.some(({ value }) => value.name === 'last')) await last.promise
    return notes.insert(records, tx)
  }
  const lag = async () => {
    const positions = await notes.kafka.positions(notes.name, ['notes'])
    return positions.reduce((sum, position) => sum + position.lag, 0)
  }
  await eventually('all is committed', async () => (await lag()) === 0)
  await notes.send(slow, 'a', 'b', 'c', 'last')
  await eventually('all but the last is committed', async () => (await lag()) === 1)
  last.resolve()
  await notes.notesOf(slow, 31)
})
