import { unprocessable } from '@backoffice/contracts/errors.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

const notes = await testConsumer()
const dead = notes.deadLetters()
await notes.start(
  async (records, tx) => {
    if (records.some(({ value }) => value.name === 'poison')) throw unprocessable(['name'], 'is poison')
    return notes.insert(records, tx)
  },
  {},
  { isEachIndependent: true },
)

test.each([
  ['the handler refuses', Buffer.from('\0\0\0\0\x01{"name":"poison"}')],
  ['does not fit the consumer’s schema', Buffer.from('\0\0\0\0\x01{"name":7}')],
])('of independent records only one that %s goes to the dead letters, and its key goes on', async (_, value) => {
  const key = notes.aKey()
  await notes.send(key, 'before')
  await notes.sendRaw(key, value)
  await notes.send(key, 'after', 'long after')
  expect(await notes.notesOf(key, 3)).toEqual(['before', 'after', 'long after'])
  await eventually('a dead letter', () => dead.records.some((record) => record.key === key))
  await notes.send(key, 'another day')
  expect(await notes.notesOf(key, 4)).toHaveLength(4)
  expect(dead.records.filter((record) => record.key === key).map((record) => record.value)).toEqual([value])
  expect(await notes.admin`select key from parked_key where key = ${key}`).toEqual([])
})

test('what a consumer handles at once is not handled in a transaction, and what it does not is', async () => {
  const others = await testConsumer()
  const [atOnce, inTransactions]: [string[], string[]] = [[], []]
  await others.start(
    async (records, tx) => {
      inTransactions.push(...records.map(({ value }) => value.name))
      return others.insert(records, tx)
    },
    {},
    {
      isEachIndependent: true,
      batchSize: 1,
      async handleAtOnce([record], sql) {
        if (record?.value.name !== 'small') return undefined
        await sql`insert into note (key, name) values (${record.key}, ${record.value.name})`
        return () => void atOnce.push(record.value.name)
      },
    },
  )
  const key = others.aKey()
  await others.send(key, 'small', 'large')
  expect(await others.notesOf(key, 2)).toEqual(['small', 'large'])
  expect({ atOnce, inTransactions }).toEqual({ atOnce: ['small'], inTransactions: ['large'] })
})

test('a record whose statement waits too long for a lock is not given up, however long that takes', async () => {
  const others = await testConsumer()
  const dead = others.deadLetters()
  let tries = 0
  await others.start(
    others.insert,
    { patienceMs: 0 },
    {
      isEachIndependent: true,
      async handleAtOnce([record], sql) {
        tries++
        await sql.begin(async (tx) => {
          await tx`set local statement_timeout = '50ms'`
          await tx`insert into note (key, name) values (${record?.key ?? ''}, ${record?.value.name ?? ''})`
        })
        return () => undefined
      },
    },
  )
  const held = await others.admin.reserve()
  whenDone(() => held.release())
  await held`begin`
  await held`lock table note in share mode`
  const key = others.aKey()
  await others.send(key, 'waits')
  await eventually('it comes again', () => tries > 1)
  await held`rollback`
  expect(await others.notesOf(key, 1)).toEqual(['waits'])
  expect(dead.records).toEqual([])
})
