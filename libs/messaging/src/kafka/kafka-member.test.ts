import { getEventListeners } from 'node:events'
import type { Socket } from 'node:net'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
// @ts-expect-error -- it has no types of its own
import KafkajsBroker from 'kafkajs/src/broker/index.js'
// @ts-expect-error -- it has no types of its own
import KafkajsCluster from 'kafkajs/src/cluster/index.js'
// @ts-expect-error -- it has no types of its own
import KafkajsConnection from 'kafkajs/src/network/connection.js'
// @ts-expect-error -- it has no types of its own
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connectKafka } from './kafka.ts'
import type { IncomingBatch } from './kafka-connection.ts'
import { RunningMember } from './kafka-member.ts'
import { aTopic, collect, silent, testKafka } from './testing/kafka.ts'

const [NOT_LEADER_FOR_PARTITION, GROUP_LOAD_IN_PROGRESS] = [6, 14]

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

const aRecord = (value = '') => ({ topic: 'things', key: 'a', value: Buffer.from(value), headers: {} })

function markProcessed(batch: IncomingBatch): void {
  for (const record of batch.records) batch.markProcessed(record)
}

/**
 * Lets members fetch from one broker more, which leads no partition. A member that asks for its brokers again and again
 * without a pause gets an error: the test would never end.
 */
function anotherBroker() {
  const state = { id: 'other', asked: 0 }
  const { getNodeIds }: { getNodeIds(): string[] } = KafkajsCluster.prototype
  const asking = vi.spyOn(KafkajsCluster.prototype, 'getNodeIds').mockImplementation(function (this: unknown) {
    if (++state.asked > 1000) throw new Error('asked without a pause')
    return [...getNodeIds.call(this), state.id]
  })
  onTestFinished(() => asking.mockRestore())
  return state
}

test('a member that is stopped while it turns to other brokers ends', async () => {
  const broker = anotherBroker()
  const { kafka } = await testKafka([aTopic('things')])
  let isProcessing = false
  const member = kafka.consume({
    group: 'turning',
    topics: ['things'],
    concurrency: 1,
    async onBatch({ isRunning }) {
      isProcessing = true
      await eventually('the member is to stop', () => !isRunning())
    },
  })
  await kafka.produce([aRecord()])
  await eventually('a batch is processed', () => isProcessing)
  Object.assign(broker, { id: 'another', asked: 0 })
  await eventually('the brokers are others', () => broker.asked > 0)
  await member.stop()
  expect(broker.asked).toBeLessThan(1000)
})

test('a member goes on without joining anew when a partition has another leader', async () => {
  const { kafka } = await testKafka([aTopic('things')])
  const onAssigned = vi.fn()
  const received: string[] = []
  kafka.consume({
    group: 'led',
    topics: ['things'],
    concurrency: 1,
    onAssigned,
    async onBatch(batch) {
      received.push(...batch.records.map(({ value }) => String(value)))
      markProcessed(batch)
    },
  })
  await kafka.produce([aRecord('before')])
  await eventually('the record before', () => received.includes('before'))
  const fetching = vi
    .spyOn(KafkajsBroker.prototype, 'fetch')
    .mockRejectedValueOnce(createErrorFromCode(NOT_LEADER_FOR_PARTITION))
  onTestFinished(() => fetching.mockRestore())
  await kafka.produce([aRecord('after')])
  await eventually('a fetch after the refused one', () => fetching.mock.calls.length > 1)
  await kafka.produce([aRecord('last')])
  await eventually('the last record', () => received.includes('last'))
  expect(received).toEqual(['before', 'after', 'last'])
  expect(onAssigned).toHaveBeenCalledTimes(1)
})

test('a member that hears of more partitions joins anew when its batches have ended', async () => {
  anotherBroker()
  const { kafka } = await testKafka([aTopic('things')])
  const assigned: number[] = []
  let joinsBefore = 0
  kafka.consume({
    group: 'more',
    topics: ['things'],
    concurrency: 1,
    onAssigned: (partitions) => void assigned.push(partitions.size),
    async onBatch(batch) {
      if (joinsBefore > 0) return markProcessed(batch)
      await kafka.addPartitions('things', 4)
      const { refreshMetadata }: { refreshMetadata(): Promise<void> } = KafkajsCluster.prototype
      const asking = vi
        .spyOn(KafkajsCluster.prototype, 'refreshMetadataIfNecessary')
        .mockImplementation(refreshMetadata)
      onTestFinished(() => asking.mockRestore())
      await eventually('it asks for the partitions', () => asking.mock.calls.length > 0)
      await eventually('it joins too early', () => assigned.length > 1, 500).catch(() => undefined)
      joinsBefore = assigned.length
      markProcessed(batch)
    },
  })
  await kafka.produce([aRecord()])
  await eventually('it has all partitions', () => assigned.at(-1) === 4)
  expect(joinsBefore).toBe(1)
})

test('a member whose connection is lost in the middle of an answer reads the next answers from their beginning', async () => {
  const { kafka } = await testKafka([aTopic('things')])
  const { processData }: { processData(data: Buffer): void } = KafkajsConnection.prototype
  interface Connection {
    readonly socket: Socket
    readonly requestQueue: { readonly inflight: Map<number, { readonly entry: { readonly apiName: string } }> }
  }
  let isLost = false
  const reading = vi.spyOn(KafkajsConnection.prototype, 'processData').mockImplementation(function (
    this: Connection,
    data: Buffer,
  ) {
    const isOfFetch = [...this.requestQueue.inflight.values()].some(({ entry }) => entry.apiName === 'Fetch')
    if (isLost || !isOfFetch) return processData.call(this, data)
    isLost = true
    processData.call(this, data.subarray(0, 10))
    this.socket.destroy(new Error('lost'))
  })
  onTestFinished(() => reading.mockRestore())
  await kafka.produce([aRecord()])
  await collect(kafka, 'things').atLeast(1, 20_000)
  expect(isLost).toBe(true)
})

test('a member that the group has removed while its clock was set back joins again', async () => {
  const { kafka } = await testKafka([aTopic('things')])
  kafka.consume({
    group: 'set-back',
    topics: ['things'],
    concurrency: 1,
    onBatch: async (batch) => markProcessed(batch),
  })
  const isCommitted = async () => (await kafka.positions('set-back', ['things'])).every(({ lag }) => lag === 0)
  await kafka.produce([aRecord()])
  await eventually('the first record is committed', isCommitted)
  const { now } = Date
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  onTestFinished(() => clock.mockRestore())
  await kafka.removeMembersOf([kafka.processNumber])
  await kafka.produce([aRecord()])
  await eventually('the second record is committed', isCommitted, 20_000)
})
