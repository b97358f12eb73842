import { randomBytes, randomUUID } from 'node:crypto'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { deadLetter, parkKey, sendDeadLetters } from '@backoffice/messaging/consumers/dead-letters.ts'
import { encoded } from '@backoffice/messaging/consumers/testing/consumer.ts'
import type { IncomingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { aTopic, collect, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { countDeadLetters, readDeadLetter, readDeadLetters } from './read-dead-letters.ts'
import { replayDeadLetters } from './replay-dead-letters.ts'

const [RETURNS, RESERVATIONS, WORKSPACES] = ['catalog.returns', 'catalog.reservations', 'catalog.workspaces'] as const
const [TOPIC, RETURNED] = ['orders.reservations', 'orders.returns'] as const
const [LARGE, LARGE_TOPIC] = ['orders.workspaces', 'gateway.workspaces'] as const
const [SETTINGS, WRITTEN, READ] = ['apps.workspaces', 'collections.workspaces', 'imports.results'] as const
const [MANY, MANY_TOPIC] = ['imports.workspaces', 'imports.batches'] as const
const names = [RETURNS, RESERVATIONS, WORKSPACES, SETTINGS, WRITTEN, 'catalog.imports'].map(deadLetterTopic)
const { kafka } = await testKafka([
  ...[TOPIC, RETURNED, LARGE_TOPIC, READ, MANY_TOPIC, ...names].map((name) => aTopic(name)),
  ...[LARGE, MANY].map((consumer) => aTopic(deadLetterTopic(consumer), { 'max.message.bytes': '5000' })),
])
const { workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
whenDone(() => worker.stop?.())
const { sql } = worker

const KEY = randomUUID()
const WORKSPACE = randomUUID()
const aRecord = (offset: string, differences: Partial<IncomingRecord> = {}): IncomingRecord => ({
  topic: TOPIC,
  key: KEY,
  value: Buffer.from(`value ${offset}`),
  headers: { traceparent: `trace ${offset}` },
  partition: 1,
  offset,
  producedAt: new Date(),
  ...differences,
})
const addLetters = (consumer: string, records: readonly IncomingRecord[], reason = 'broken') =>
  kafka.produce(records.map((record) => deadLetter(consumer, record, reason)))
const page = (consumer: string, limit = 100, after?: string, from = kafka) =>
  readDeadLetters(from, sql, { consumer, since: new Date(0), after, limit })
const replay = (chosen = {}, timing = {}) => replayDeadLetters(kafka, sql, RESERVATIONS, chosen, timing)

test('each record goes to its topic again unchanged, in its order and once, and its key is no longer parked', async () => {
  const onTopic = collect(kafka, TOPIC)
  await parkKey(sql, RESERVATIONS, aRecord('7'), 'broken')
  // 7 came twice, as after a kill between dead letter and commit.
  await addLetters(
    RESERVATIONS,
    ['7', '7', '9'].map((offset) => aRecord(offset)),
  )
  expect(await countDeadLetters(kafka, sql, 'catalog', new Date(0))).toEqual({
    consumers: [{ consumer: RESERVATIONS, letters: 3, parked_keys: 1 }],
  })
  // Two operators at once.
  const both = await Promise.all([replay(), replay()])
  expect(both.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(2)
  const records = await onTopic.atLeast(2)
  expect(records.map(({ key, value, headers }) => [key, String(value), Object.keys(headers)])).toEqual([
    [KEY, 'value 7', ['traceparent']],
    [KEY, 'value 9', ['traceparent']],
  ])
  expect(await sql`select from parked_key where key = ${KEY}`).toHaveLength(0)
  const { items } = await page(RESERVATIONS)
  expect(items.map(({ replayed, parked }) => [replayed, parked])).toEqual(Array(3).fill([true, false]))

  expect(await replay()).toEqual({ replayed: 0, replayed_before: 3, rest: null })
  await addLetters(RESERVATIONS, [aRecord('11'), aRecord('13')], 'broken again')
  const chosen = (await page(RESERVATIONS)).items.at(-1)?.id
  expect(await replay({ ids: [chosen] })).toEqual({ replayed: 1, replayed_before: 0, rest: null })
  // A request that has no time left says what remains.
  const { rest, ...nothing } = await replay({}, { withinMs: 1 })
  expect([nothing, rest]).toEqual([{ replayed: 0, replayed_before: 0 }, expect.stringMatching(/^\d:0-5$/)])
  expect(await replay({ rest })).toEqual({ replayed: 1, replayed_before: 4, rest: null })
  expect((await onTopic.atLeast(4)).map(({ value }) => String(value))).toEqual(
    ['7', '9', '13', '11'].map((offset) => `value ${offset}`),
  )
})

test('a replay that is killed after it has sent loses nothing when it is repeated: a record may come twice', async () => {
  const onTopic = collect(kafka, RETURNED)
  await addLetters(RETURNS, [aRecord('1', { topic: RETURNED })])
  const killed: typeof kafka = {
    ...kafka,
    async produce(records) {
      await kafka.produce(records)
      throw new Error('killed')
    },
  }
  await expect(replayDeadLetters(killed, sql, RETURNS, {})).rejects.toThrow('killed')
  expect((await page(RETURNS)).items).toMatchObject([{ replayed: false }])
  expect(await replayDeadLetters(kafka, sql, RETURNS, {})).toMatchObject({ replayed: 1, rest: null })
  expect((await onTopic.atLeast(2)).map(({ value }) => String(value))).toEqual(['value 1', 'value 1'])
})

test('a page begins behind a dead letter, in the order of time over all partitions, and reads a part of the topic', async () => {
  const value = encoded({ type: 'order.returned', workspace_id: WORKSPACE, data: 'x'.repeat(2000) })
  for (let batch = 0; batch < 10; batch++) {
    const records = Array.from({ length: 200 }, (_, index) =>
      aRecord(String(batch * 200 + index), { key: randomUUID(), value }),
    )
    await addLetters(RETURNS, records)
  }
  let bytes = 0
  const measured: typeof kafka = {
    ...kafka,
    consume: (options) =>
      kafka.consume({
        ...options,
        onBatch(batch) {
          bytes += batch.records.length * value.length
          return options.onBatch(batch)
        },
      }),
  }
  const first = await page(RETURNS, 10, undefined, measured)
  expect(first.has_next_page).toBe(true)
  expect(bytes).toBeLessThan((2000 * value.length) / 2)
  const second = await page(RETURNS, 15, first.items.at(-1)?.id)
  const together = (await page(RETURNS, 25)).items
  expect([...first.items, ...second.items]).toEqual(together)
  const times = together.map(({ at }) => at)
  expect(times).toEqual(times.toSorted())
  expect(together.at(-1)).toMatchObject({
    topic: TOPIC,
    type: 'order.returned',
    workspace: WORKSPACE,
    reason: 'broken',
  })
  expect(JSON.stringify(together)).not.toContain('xxx')
})

test('one is read with its contents, which are JSON or not, and is null when it is not there', async () => {
  const value = encoded({ type: 'workspace.deleted', workspace_id: WORKSPACE })
  const deep = Buffer.concat([encoded(null).subarray(0, 5), Buffer.from('['.repeat(20_000) + ']'.repeat(20_000))])
  const [none, nested] = [aRecord('3', { value: null, key: null }), aRecord('4', { value: deep })]
  await addLetters(WORKSPACES, [aRecord('1', { value }), aRecord('2'), none, nested])
  const { items } = await page(WORKSPACES)
  items.sort((one, other) => one.offset.localeCompare(other.offset))
  const contents = await Promise.all(items.map(({ id }) => readDeadLetter(kafka, sql, id)))
  expect(contents.map((one) => [one?.encoding, one?.payload, one?.headers.traceparent])).toEqual([
    ['json', { type: 'workspace.deleted', workspace_id: WORKSPACE }, 'trace 1'],
    ['base64', Buffer.from('value 2').toString('base64'), 'trace 2'],
    ['json', null, 'trace 3'],
    ['base64', deep.toString('base64'), 'trace 4'],
  ])
  expect(contents[0]).toMatchObject(items[0] ?? {})
  for (const id of [`${WORKSPACES}:0:2:99`, `${WORKSPACES}:0:77:0`])
    expect(await readDeadLetter(kafka, sql, id)).toBeNull()
})

test('one that is too large for its value is read and sent with the value from where it was read, while that is there', async () => {
  const value = encoded({ type: 'order.returned', data: randomBytes(4000).toString('hex') })
  const headers = { traceparent: 'trace' }
  await kafka.produce([{ topic: LARGE_TOPIC, key: KEY, value, headers }])
  const [original] = await collect(kafka, LARGE_TOPIC).atLeast(1)
  const gone = aRecord('99', { value, topic: LARGE_TOPIC })
  expect(await sendDeadLetters(kafka, LARGE, [original ?? gone, gone], 'broken')).toEqual([original, gone])
  const { items } = await page(LARGE)
  items.sort((one, other) => one.offset.localeCompare(other.offset))
  const contents = await Promise.all(items.map(({ id }) => readDeadLetter(kafka, sql, id)))
  expect(contents).toMatchObject([
    { type: 'order.returned', headers: { traceparent: 'trace', 'dead-letter-value': 'left out' } },
    { type: null, payload: null },
  ])
  expect(await replayDeadLetters(kafka, sql, LARGE, {})).toEqual({ replayed: 1, replayed_before: 0, rest: null })
  const [, again] = await collect(kafka, LARGE_TOPIC).atLeast(2)
  expect(again?.value).toEqual(value)
  expect(Object.keys(again?.headers ?? {})).toEqual(['traceparent'])
})

test('one of a batch that was never read shows which; a replay refuses it by its id, and leaves it out of others', async () => {
  const unreadable = { firstOffset: '3', lastOffset: '13', reason: 'too large' }
  const batch = aRecord('13', { topic: READ, key: null, value: null, headers: {}, unreadable })
  const forged = aRecord('14', { topic: READ, value: null, headers: { 'dead-letter-value': 'never read' } })
  await addLetters(SETTINGS, [batch, forged], 'the batch of the offsets 3 to 13 cannot be read: too large')
  const { items } = await page(SETTINGS)
  const [letter] = items.filter(({ offset }) => offset === '13')
  expect(await readDeadLetter(kafka, sql, letter?.id ?? '')).toMatchObject({
    topic: READ,
    offset: '13',
    key: null,
    payload: null,
    reason: 'the batch of the offsets 3 to 13 cannot be read: too large',
    headers: { 'dead-letter-first-offset': '3', 'dead-letter-value': 'never read' },
  })
  const byId = replayDeadLetters(kafka, sql, SETTINGS, { ids: [letter?.id ?? ''] })
  await expect(byId).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('its records were never read'),
  })
  expect(await replayDeadLetters(kafka, sql, SETTINGS, {})).toEqual({ replayed: 1, replayed_before: 0, rest: null })
})

test('a replay whose time is over among such letters says what remains, whose keys stay parked, and sends each once', async () => {
  const values = Array.from({ length: 3 }, () => randomBytes(5000))
  await kafka.produce(values.map((value, n) => ({ topic: MANY_TOPIC, key: `key ${n}`, value, headers: {} })))
  const originals = await collect(kafka, MANY_TOPIC).atLeast(3)
  expect(await sendDeadLetters(kafka, MANY, originals, 'broken')).toEqual(originals)
  await Promise.all(originals.map((record) => parkKey(sql, MANY, record, 'broken')))
  const parked = async () => Number((await sql`select count(*) from parked_key where consumer = ${MANY}`)[0]?.count)
  let now = 0
  const slow: typeof kafka = {
    ...kafka,
    async produce(records) {
      await kafka.produce(records)
      if (records.length > 0) now += 60_000
    },
  }
  const [sent, stillParked]: [number[], number[]] = [[], []]
  for (let rest: string | null | undefined; rest !== null; ) {
    const answer = await replayDeadLetters(slow, sql, MANY, { rest }, { monotonic: () => now })
    sent.push(answer.replayed)
    stillParked.push(await parked())
    rest = answer.rest
  }
  expect(sent).toEqual([1, 1, 1])
  expect(stillParked).toEqual([2, 1, 0])
  const records = await collect(kafka, MANY_TOPIC).atLeast(6)
  const sorted = (all: readonly (Buffer | null)[]) => all.map((value) => value?.toString('hex')).toSorted()
  expect(sorted(records.map(({ value }) => value))).toEqual(sorted([...values, ...values]))
})

test('where Kafka is too slow, the record of such a letter is not taken for gone', async () => {
  await kafka.produce([{ topic: MANY_TOPIC, key: 'slow', value: randomBytes(5000), headers: {} }])
  const original = (await collect(kafka, MANY_TOPIC).atLeast(7)).find(({ key }) => key === 'slow')
  await sendDeadLetters(kafka, MANY, [original ?? aRecord('0')], 'broken')
  await parkKey(sql, MANY, original ?? aRecord('0'), 'broken')
  const slow: typeof kafka = {
    ...kafka,
    consume: (options) =>
      kafka.consume(options.topics.includes(MANY_TOPIC) ? { ...options, onBatch: async () => {} } : options),
  }
  const letter = (await page(MANY)).items.at(-1)
  const [answer] = await Promise.all([
    replayDeadLetters(slow, sql, MANY, { ids: [letter?.id ?? ''] }),
    expect(readDeadLetter(slow, sql, letter?.id ?? '')).rejects.toMatchObject({ code: 'service_unavailable' }),
  ])
  expect(answer).toEqual({ replayed: 0, replayed_before: 0, rest: expect.stringMatching(/^\d:\d+-\d+$/) })
  expect((await page(MANY)).items.at(-1)).toMatchObject({ parked: true, replayed: false })
  expect(await replayDeadLetters(kafka, sql, MANY, { rest: answer.rest ?? '' })).toMatchObject({
    replayed: 1,
    rest: null,
  })
})

test.each([
  ['catalog.imports', 'imports.rejected-batches has ended their imports: import the file again'],
  ['imports.rejected-batches', 'their imports end by themselves: import the file again'],
  ['collections.products', 'an old state on catalog.products would replace a newer one: rebuild the projection'],
])('those of %s are not sent again', async (consumer, reason) => {
  await expect(replayDeadLetters(kafka, sql, consumer, {})).rejects.toThrow(reason)
})

test('a record that no consumer has sent to its dead letters is listed among them, and left out of a replay', async () => {
  const topic = deadLetterTopic(WRITTEN)
  await kafka.produce([{ topic, key: KEY, value: encoded({ type: 'batch' }), headers: {} }])
  const { items } = await page(WRITTEN)
  expect(items).toMatchObject([{ topic, offset: '0', type: 'batch', reason: '', replayed: false }])
  expect(await readDeadLetter(kafka, sql, items[0]?.id ?? '')).toMatchObject({ payload: { type: 'batch' } })
  expect(await replayDeadLetters(kafka, sql, WRITTEN, {})).toEqual({ replayed: 0, replayed_before: 0, rest: null })
  const byId = replayDeadLetters(kafka, sql, WRITTEN, { ids: [items[0]?.id ?? ''] })
  await expect(byId).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('no consumer') })
  expect((await page(WRITTEN)).items).toHaveLength(1)
})

test('a note of another record, from before a topic was made again, does not count as a replay', async () => {
  const record = aRecord('71', { key: randomUUID() })
  const before = new Date(Date.now() - 60_000)
  await sql`
    insert into replayed_dead_letter (consumer, topic, partition, "offset", replayed_at)
    values (${RESERVATIONS}, ${TOPIC}, 1, 71, ${before})`
  await parkKey(sql, RESERVATIONS, record, 'broken')
  await addLetters(RESERVATIONS, [record])
  const letterOf = async () => (await page(RESERVATIONS)).items.find(({ key }) => key === record.key)
  const letter = await letterOf()
  expect(letter).toMatchObject({ parked: true, replayed: false })
  expect(await replay({ ids: [letter?.id ?? ''] })).toMatchObject({ replayed: 1, replayed_before: 0 })
  expect(await letterOf()).toMatchObject({ parked: false, replayed: true })
  expect(await replay({ ids: [letter?.id ?? ''] })).toMatchObject({ replayed: 0, replayed_before: 1 })
})

const parkedKeysOf = async (consumer: string) => {
  const { consumers } = await countDeadLetters(kafka, sql, 'catalog', new Date())
  return consumers.find((each) => each.consumer === consumer)?.parked_keys
}

test('a key that was parked by hand is listed until its dead letter is replayed', async () => {
  const record = aRecord('70', { key: randomUUID() })
  await parkKey(sql, RESERVATIONS, record, 'set aside by hand')
  await addLetters(RESERVATIONS, [record], 'an earlier record of its key is here')
  const before = await parkedKeysOf(RESERVATIONS)
  const letter = (await page(RESERVATIONS)).items.find(({ key }) => key === record.key)
  expect(letter).toMatchObject({ parked: true })
  expect(await replay({ ids: [letter?.id ?? ''] })).toMatchObject({ replayed: 1 })
  expect((await parkedKeysOf(RESERVATIONS)) ?? 0).toBe((before ?? 0) - 1)
})

test('a parked key of an import, whose dead letters are never replayed, does not stay in the list', async () => {
  await parkKey(sql, 'catalog.imports', aRecord('1', { topic: 'imports.batches', key: randomUUID() }), 'broken')
  expect(await parkedKeysOf('catalog.imports')).toBeUndefined()
})
