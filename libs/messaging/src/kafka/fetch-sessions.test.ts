import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import type { IncomingBatch } from './kafka-connection.ts'
import { aTopic, testKafka } from './testing/kafka.ts'

interface Answer {
  readonly errorCode: number
  readonly responses: readonly { readonly partitions: readonly unknown[] }[]
}

interface Definition {
  readonly request: { readonly apiName: string; encode(): Promise<{ readonly buffer: Buffer }> }
}

const { kafka, open } = await testKafka([aTopic('things'), aTopic('others')])

/** What every member in this process has fetched: bytes and wait of its request, and the partitions in the answer. */
const fetches: { bytes: number; waitMs: number; partitions: number; errorCode: number }[] = []
const { prototype }: { prototype: { send(definition: Definition): Promise<Answer> } } = createRequire(import.meta.url)(
  'kafkajs/src/network/connectionPool',
)
const { send } = prototype
let spoil = (_: Definition['request']) => undefined as unknown
prototype.send = async function (definition) {
  if (definition.request.apiName !== 'Fetch') return send.call(this, definition)
  spoil(definition.request)
  const { buffer } = await definition.request.encode()
  const answer = await send.call(this, definition)
  const partitions = answer.responses.flatMap((response) => response.partitions).length
  fetches.push({ bytes: buffer.length, waitMs: buffer.readInt32BE(4), partitions, errorCode: answer.errorCode })
  return answer
}
whenDone(() => {
  prototype.send = send
})

const aRecord = (key: string, topic = 'things') => ({ topic, key, value: Buffer.from(key), headers: {} })

/** A member that marks what it gets, but for batches that `refuses` says it does not take yet. */
function aMember(refuses: (batch: IncomingBatch) => boolean = () => false) {
  const received: string[] = []
  const member = open().consume({
    group: randomUUID(),
    topics: ['things', 'others'],
    concurrency: 3,
    async onBatch(batch) {
      if (refuses(batch)) return
      received.push(...batch.records.map(({ key }) => String(key)))
      const last = batch.records.at(-1)
      if (last) batch.markProcessed(last)
    },
  })
  whenDone(() => member.stop())
  return { received, stop: () => member.stop() }
}

test('a fetch after the first names the partition that was read, and its answer the one with a record', async () => {
  const { received, stop } = aMember()
  await kafka.produce([aRecord('first')])
  await eventually('the first record', () => received.includes('first'))
  fetches.length = 0
  for (const key of ['a', 'b', 'c']) {
    await kafka.produce([aRecord(key)])
    await eventually(`the record ${key}`, () => received.includes(key))
  }
  await stop()
  const whole = 6 * 28
  expect(fetches.filter(({ bytes }) => bytes > whole)).toEqual([])
  expect(fetches.filter(({ partitions }) => partitions > 1)).toEqual([])
})

test('records that a member has not taken come again, also after a pause of their partition', async () => {
  const refused = { again: 0, paused: 0 }
  const { received, stop } = aMember((batch) => {
    if (batch.records.some(({ key }) => key === 'again')) return refused.again++ < 2
    if (!batch.records.some(({ key }) => key === 'paused') || refused.paused++ > 0) return false
    batch.coolDown(300)
    return true
  })
  await kafka.produce([aRecord('again'), aRecord('paused', 'others')])
  await eventually('both records', () => received.includes('again') && received.includes('paused'))
  await kafka.produce([aRecord('later', 'others')])
  await eventually('a later record', () => received.includes('later'))
  expect(refused).toEqual({ again: 3, paused: 2 })
  await stop()
})

test('a wait for records ends when a paused partition is to be fetched again', async () => {
  let refused = 0
  const { received, stop } = aMember((batch) => {
    if (refused > 0 || batch.records.every(({ key }) => key !== 'cooled')) return false
    refused++
    fetches.length = 0
    batch.coolDown(1300)
    return true
  })
  await kafka.produce([aRecord('cooled')])
  await eventually('the record', () => received.includes('cooled'))
  expect(Math.min(...fetches.map(({ waitMs }) => waitMs))).toBeLessThanOrEqual(1310)
  await stop()
})

test('a member that waits for records asks for them less than once a second, and waits no longer once it is to stop', async () => {
  const { received, stop } = aMember()
  await kafka.produce([aRecord('one')])
  await eventually('the record', () => received.includes('one'))
  fetches.length = 0
  await pause(2500)
  expect(fetches.length).toBeLessThanOrEqual(2)
  const asked = fetches.length
  await stop()
  expect(fetches.length).toBe(asked)
})

test('a session that the broker has forgotten begins anew', async () => {
  const { received, stop } = aMember()
  await kafka.produce([aRecord('before')])
  await eventually('the record before', () => received.includes('before'))
  fetches.length = 0
  let spoilt = 0
  // The id of the session follows 17 bytes of the request.
  spoil = (request) => {
    if (spoilt++ > 0) return
    const { encode } = request
    request.encode = async () => {
      const encoded = await encode()
      encoded.buffer.writeInt32BE(1, 17)
      return encoded
    }
  }
  await kafka.produce([aRecord('after')])
  await eventually('the record after', () => received.includes('after'))
  await eventually('the broker knows no such session', () => fetches.some(({ errorCode }) => errorCode === 70))
  spoil = () => undefined
  await kafka.produce([aRecord('last')])
  await eventually('the last record', () => received.includes('last'))
  await stop()
})
