import { getEventListeners } from 'node:events'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
// @ts-expect-error -- it has no types of its own
import KafkajsBroker from 'kafkajs/src/broker/index.js'
// @ts-expect-error -- it has no types of its own
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connectKafka } from './kafka.ts'
import { RunningMember } from './kafka-member.ts'
import { aTopic, silent, testKafka } from './testing/kafka.ts'

const GROUP_LOAD_IN_PROGRESS = 14

test('a member that cannot join keeps nothing of its former tries', async () => {
  const warn = vi.fn()
  const logger = Object.assign(createLogger('test', 'silent'), { warn })
  const listening = vi.spyOn(EventTarget.prototype, 'addEventListener')
  const kafka = connectKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger })
  const member = kafka.consume({ group: 'away', topics: ['away'], concurrency: 1, onBatch: async () => undefined })
  const ends = () => warn.mock.calls.filter(([, message]) => message === 'group member ended, joining again').length
  await eventually('two tries', () => ends() === 2)
  const signals = new Set(listening.mock.contexts.filter((target) => target instanceof AbortSignal))
  // One waits for the end of the pause before the next try.
  const kept = [...signals].map((signal) => getEventListeners(signal, 'abort').length)
  await member.stop()
  expect(Math.max(...kept)).toBeLessThanOrEqual(1)
})

test('a connection keeps no member that has ended', async () => {
  const asked = vi.spyOn(RunningMember.prototype, 'remove')
  onTestFinished(() => asked.mockRestore())
  const kafka = connectKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger: silent })
  const member = kafka.consume({ group: 'ending', topics: ['away'], concurrency: 1, onBatch: async () => undefined })
  await kafka.removeMembersOf([1])
  expect(asked).toHaveBeenCalledTimes(1)
  await member.stop()
  await kafka.removeMembersOf([1])
  expect(asked).toHaveBeenCalledTimes(1)
})

test('a member is told which partitions it has, also after others have joined and left', async () => {
  const { kafka, open } = await testKafka([aTopic('things')])
  const told: (readonly string[])[] = []
  const options = { group: 'told', topics: ['things'], concurrency: 1, onBatch: async () => undefined }
  kafka.consume({ ...options, onAssigned: (partitions) => void told.push([...partitions].sort()) })
  const all = ['things/0', 'things/1', 'things/2']
  await eventually('it has all', () => told.at(-1)?.join() === all.join())
  const other = open().consume(options)
  await eventually('the other has some', () => other.assigned().size > 0)
  await eventually(
    'it has the rest',
    () => told.at(-1)?.join() === all.filter((one) => !other.assigned().has(one)).join(),
  )
  await other.stop()
  await eventually('it has all again', () => told.at(-1)?.join() === all.join())
})

test('a member that the group has forgotten joins it again, also when the coordinator still loads its groups', async () => {
  const { kafka } = await testKafka([aTopic('things')])
  kafka.consume({
    group: 'forgotten',
    topics: ['things'],
    concurrency: 1,
    async onBatch(batch) {
      for (const record of batch.records) batch.markProcessed(record)
    },
  })
  const isCommitted = async () => (await kafka.positions('forgotten', ['things'])).every(({ lag }) => lag === 0)
  const send = (value: string) => kafka.produce([{ topic: 'things', key: 'a', value: Buffer.from(value), headers: {} }])
  await send('before')
  await eventually('the first record is committed', isCommitted)

  const joining = vi
    .spyOn(KafkajsBroker.prototype, 'joinGroup')
    .mockRejectedValueOnce(createErrorFromCode(GROUP_LOAD_IN_PROGRESS))
  onTestFinished(() => joining.mockRestore())
  await kafka.removeMembersOf([kafka.processNumber])
  await eventually('it has tried to join', () => joining.mock.calls.length > 0)
  await send('after')
  await eventually('the second record is committed', isCommitted, 20_000)
})
