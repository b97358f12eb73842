import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, test } from 'vitest'
import type { ConsumerDefinition } from './consumer-definition.ts'
import { testConsumer } from './testing/consumer.ts'
import type { Note } from './testing/note.ts'

const notes = await testConsumer()

const [{ key: slow }, { key: quick }] = await notes.keysOfTwoPartitions()

let handle: ConsumerDefinition<Note>['handle'] = notes.insert
beforeAll(() => notes.start((records, tx) => handle(records, tx), { patienceMs: 5000 }, { batchSize: 1 }))

test('a partition whose records take long gives way: another partition’s record is handled meanwhile', async () => {
  await notes.notesOf(quick, 1)
  await notes.notesOf(slow, 1)
  const [begun, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  whenDone(() => sent.resolve())
  handle = async (records, tx) => {
    if (records.some(({ key }) => key === slow)) {
      begun.resolve()
      await sent.promise
      await pause(100)
    }
    return notes.insert(records, tx)
  }
  const names = Array.from({ length: 25 }, (_, n) => String(n))
  await notes.send(slow, ...names)
  await begun.promise
  await notes.send(quick, 'meanwhile')
  sent.resolve()
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

test('a statement that takes too long gives way to another partition before its record is given up', async () => {
  const dead = notes.deadLetters()
  handle = async (records, tx) => {
    if (records.some(({ value }) => value.name === 'endless')) {
      await tx`select set_config('statement_timeout', '400ms', true)`
      await tx`select pg_sleep(60)`
    }
    return notes.insert(records, tx)
  }
  await notes.send(slow, 'endless')
  await eventually('it runs', async () => {
    const [row] = await notes.admin`
      select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
    return row !== undefined
  })
  await notes.send(quick, 'meanwhile as well')
  await eventually('the other', async () => (await notes.notesOf(quick, 1)).includes('meanwhile as well'))
  expect(dead.records).toEqual([])
  await eventually('a dead letter', () => dead.records.some(({ key }) => key === slow))
  await notes.admin`delete from parked_key where key = ${slow}`
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
