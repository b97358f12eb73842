import { randomBytes } from 'node:crypto'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

const LIMIT = 10_000
const notes = await testConsumer()
for (const topic of ['notes', deadLetterTopic(notes.name)])
  await notes.kafka.configureTopic(topic, { 'max.message.bytes': String(LIMIT) })
const dead = notes.deadLetters()
const deadOf = (key: string, count: number) =>
  eventually(`${count} dead letters`, () => {
    const found = dead.records.filter((record) => record.key === key)
    return found.length >= count && found
  })

test('a poison record that is too large with the headers of a dead letter goes there without its value, and its partition goes on', async () => {
  const key = notes.aKey()
  await notes.sendRaw(key, randomBytes(LIMIT - 150))
  await notes.send(key, 'after')
  await notes.start()
  const [letter, after] = await deadOf(key, 2)
  expect(letter?.value).toBeNull()
  const headers = Object.entries(letter?.headers ?? {}).map(([name, value]) => [name, String(value)])
  expect(Object.fromEntries(headers)).toMatchObject({
    'dead-letter-value': 'left out',
    'dead-letter-reason': 'not in Confluent wire format',
    'dead-letter-topic': 'notes',
    'dead-letter-offset': '0',
  })
  expect(String(after?.value)).toContain('after')
  expect(await metricsText()).toMatch(/consumer_dead_letter_placeholders_total\{consumer="test\.notes"[^}]*\} 1$/m)
})

test('records of a parked key that are too large for one request go to the dead letters whole, in their order', async () => {
  const key = notes.aKey()
  const names = ['one', 'two', 'three', 'four'].map((name) => name.padEnd(LIMIT / 2, '.'))
  await notes.admin`
    insert into parked_key (consumer, topic, key, reason) values (${notes.name}, 'notes', ${key}, 'by hand')`
  for (const name of names) await notes.send(key, name)
  await notes.start()
  const letters = await deadOf(key, names.length)
  expect(letters.map(({ value }) => JSON.parse(String(value?.subarray(5))).name)).toEqual(names)
})

test('a poison record whose key is too long to be parked goes to the dead letters', async () => {
  const key = randomBytes(3000).toString('base64')
  await notes.sendRaw(key, Buffer.from('hello'))
  await notes.start()
  expect((await deadOf(key, 1))[0]?.value).toEqual(Buffer.from('hello'))
})
