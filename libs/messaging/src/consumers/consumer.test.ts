import { unprocessable } from '@backoffice/contracts/errors.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test, vi } from 'vitest'
import type { ReceivedRecord } from './received-records.ts'
import { encoded, testConsumer } from './testing/consumer.ts'
import type { Note } from './testing/note.ts'

const notes = await testConsumer()
const dead = notes.deadLetters()

/**
 * Poison is what the handler refuses; at a bug it fails, and a statement with a slow one takes too long. The rest is
 * written.
 */
await notes.start(
  async (records: ReceivedRecord<Note>[], tx) => {
    if (records.some(({ value }) => value.name === 'poison')) throw unprocessable(['name'], 'is poison')
    if (records.some(({ value }) => value.name === 'bug')) throw new TypeError('no member of undefined')
    if (records.some(({ value }) => value.name === 'slow')) {
      await tx`select set_config('statement_timeout', '50ms', true)`
      await tx`select pg_sleep(60)`
    }
    return notes.insert(records, tx)
  },
  { stalledAfterMs: 10_000, patienceMs: 200 },
)

const deadNamesOf = (key: string) =>
  dead.records
    .filter((record) => record.key === key)
    .map(({ value }) => JSON.parse(value?.toString('utf8', 5) ?? 'null').name)

test('records are handled in the order of their key', async () => {
  const key = notes.aKey()
  const names = Array.from({ length: 100 }, (_, index) => String(index))
  await notes.send(key, ...names)
  expect(await notes.notesOf(key, 100)).toEqual(names)
})

test('a poison record goes to the dead letters with its reason and where it was', async () => {
  const key = notes.aKey()
  await notes.send(key, 'poison')
  await eventually('a dead letter', () => deadNamesOf(key).length === 1)
  const headers = dead.records.find((record) => record.key === key)?.headers ?? {}
  expect(headers['dead-letter-reason']?.toString()).toBe('name: is poison')
  expect(headers['dead-letter-topic']?.toString()).toBe('notes')
  expect(headers['dead-letter-offset']?.toString()).toMatch(/^\d+$/)
})

test('a poison record with headers that kafkajs cannot send goes to the dead letters, and its neighbours go on', async () => {
  const [sick, healthy] = [notes.aKey(), notes.aKey()]
  const byteLength = Buffer.byteLength
  // kafkajs fails on a header without a value only where it sums up sizes: other producers can send one.
  const sizes = vi.spyOn(Buffer, 'byteLength').mockImplementation((value, ...more) => byteLength(value ?? '', ...more))
  const headers = Object.fromEntries([
    ['__proto__', 'a'],
    ['constructor', ['b', 'c']],
    ['empty', null],
  ])
  await notes.kafka.produce([{ topic: 'notes', key: sick, value: encoded({ name: 'poison' }), headers }])
  sizes.mockRestore()
  await notes.send(healthy, 'one')
  expect(await notes.notesOf(healthy, 1)).toEqual(['one'])
  await eventually('a dead letter', () => deadNamesOf(sick).length === 1)
  const letter = dead.records.find((record) => record.key === sick)
  const kept = Object.entries(letter?.headers ?? {}).filter(([name]) => !name.startsWith('dead-letter-'))
  expect(kept.map(([name, value]) => [name, String(value)])).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b,c'],
    ['empty', ''],
  ])
})

test('later records of a poison record’s key follow it, in their order, and its neighbours go on', async () => {
  const [sick, ...healthy] = [notes.aKey(), notes.aKey(), notes.aKey(), notes.aKey()]
  await notes.send(sick, 'before', 'poison', 'after')
  for (const key of healthy) await notes.send(key, 'one', 'two')
  await notes.send(sick, 'much later')
  for (const key of healthy) expect(await notes.notesOf(key, 2)).toEqual(['one', 'two'])
  await eventually('three dead letters', () => deadNamesOf(sick).length === 3)
  expect(deadNamesOf(sick)).toEqual(['poison', 'after', 'much later'])
  expect(await notes.notesOf(sick, 1)).toEqual(['before'])
})

test('a record that meets a bug waits, then goes to the dead letters, and its neighbours go on', async () => {
  const [sick, healthy] = [notes.aKey(), notes.aKey()]
  await notes.send(sick, 'before', 'bug', 'after')
  await notes.send(healthy, 'one', 'two')
  expect(await notes.notesOf(healthy, 2)).toEqual(['one', 'two'])
  await eventually('two dead letters', () => deadNamesOf(sick).length === 2)
  expect(deadNamesOf(sick)).toEqual(['bug', 'after'])
  expect(await notes.notesOf(sick, 1)).toEqual(['before'])
})

test('a record whose statement takes too long goes to the dead letters once it is alone, and its neighbours go on', async () => {
  const [sick, ...healthy] = Array.from({ length: 12 }, () => notes.aKey())
  const timeouts = async () =>
    Number(
      /^consumer_statement_timeouts_total\{consumer="test\.notes"[^}]*\} (\d+)$/m.exec(await metricsText())?.[1] ?? 0,
    )
  const before = await timeouts()
  await notes.send(sick ?? '', 'before', 'slow', 'after')
  for (const key of healthy) await notes.send(key, 'one', 'two')
  for (const key of healthy) expect(await notes.notesOf(key, 2)).toEqual(['one', 'two'])
  await eventually('two dead letters', () => deadNamesOf(sick ?? '').length === 2)
  expect(deadNamesOf(sick ?? '')).toEqual(['slow', 'after'])
  expect(await notes.notesOf(sick ?? '', 1)).toEqual(['before'])
  const [parked] = await notes.admin<{ reason: string }[]>`select reason from parked_key where key = ${sick ?? ''}`
  expect(parked?.reason).toBe('canceling statement due to statement timeout')
  expect(await timeouts()).toBeGreaterThan(before)
})

test('a key that an operator has cleared is handled again', async () => {
  const key = notes.aKey()
  await notes.send(key, 'poison')
  await eventually('a dead letter', () => deadNamesOf(key).length === 1)
  await notes.admin`delete from parked_key where key = ${key}`
  await notes.send(key, 'again')
  expect(await notes.notesOf(key, 1)).toEqual(['again'])
})

test.each([
  ['is not in wire format', Buffer.from('hello')],
  ['holds no JSON', Buffer.from([0, 0, 0, 0, 1, 123])],
  ['does not fit the consumer’s schema', Buffer.from('\0\0\0\0\x01{"name":7}')],
])('a record that %s goes to the dead letters as it came', async (_, value) => {
  const [key, neighbour] = [notes.aKey(), notes.aKey()]
  await notes.sendRaw(key, value)
  await notes.send(neighbour, 'fine')
  expect(await notes.notesOf(neighbour, 1)).toEqual(['fine'])
  const letter = await eventually('a dead letter', () => dead.records.find((record) => record.key === key))
  expect(letter.value).toEqual(value)
})

test('the reason of a record that does not fit names each member by its path', async () => {
  const key = notes.aKey()
  await notes.sendRaw(key, Buffer.from('\0\0\0\0\x01{"name":7}'))
  const letter = await eventually('a dead letter', () => dead.records.find((record) => record.key === key))
  expect(letter.headers['dead-letter-reason']?.toString()).toMatch(/^name: .*expected string/)
})

test('the reason of a record that holds no JSON quotes nothing of it', async () => {
  const key = notes.aKey()
  await notes.sendRaw(key, Buffer.from('\0\0\0\0\x01secret'))
  const letter = await eventually('a dead letter', () => dead.records.find((record) => record.key === key))
  expect(letter.headers['dead-letter-reason']?.toString()).toBe('the value is no JSON')
  const parked = await eventually('its key is parked', async () => {
    const [row] = await notes.admin<{ reason: string }[]>`select reason from parked_key where key = ${key}`
    return row
  })
  expect(parked.reason).toBe('the value is no JSON')
})

test('members that the consumer’s schema does not name are no reason to refuse a record', async () => {
  const key = notes.aKey()
  await notes.sendRaw(key, Buffer.from('\0\0\0\0\x01{"name":"newer","added":true}'))
  expect(await notes.notesOf(key, 1)).toEqual(['newer'])
})

test('lag, records and dead letters are measured', async () => {
  const measured = (text: string) => text.includes('consumer_lag_records{consumer="test.notes"') && text
  const text = await eventually('the metrics', async () => measured(await metricsText()))
  expect(text).toMatch(/consumer_records_total\{consumer="test\.notes",topic="notes"[^}]*\} \d+/)
  expect(text).toMatch(/consumer_dead_letters_total\{consumer="test\.notes"[^}]*\} \d+/)
})
