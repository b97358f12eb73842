import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import type { IncomingBatch } from './kafka-connection.ts'
import { aTopic, testKafka } from './testing/kafka.ts'

interface Commit {
  readonly groupId: string
}

interface Broker {
  offsetCommit(commit: Commit): Promise<unknown>
}

const COMMIT_WITHIN_MS = 100

const { kafka, open, prefix } = await testKafka([aTopic('things')])

/** Notes the commits of every member in this process. */
const commits: Commit[] = []
const { prototype }: { prototype: Broker } = createRequire(import.meta.url)('kafkajs/src/broker')
const commit = prototype.offsetCommit
prototype.offsetCommit = function (request) {
  commits.push(request)
  return commit.call(this, request)
}
whenDone(() => {
  prototype.offsetCommit = commit
})

const aRecord = (key = 'a') => ({ topic: 'things', key, value: Buffer.from('x'), headers: {} })

/** A member that marks what it gets. */
function aMember(group: string) {
  const received: string[] = []
  const member = open().consume({
    group,
    topics: ['things'],
    concurrency: 3,
    async onBatch({ records, markProcessed }: IncomingBatch) {
      received.push(...records.map(({ partition, offset }) => `${partition}/${offset}`))
      const last = records.at(-1)
      if (last) markProcessed(last)
    },
  })
  return { received, stop: () => member.stop() }
}

const lagOf = async (group: string) => (await kafka.positions(group, ['things'])).reduce((sum, { lag }) => sum + lag, 0)

test('batches that follow each other closely are committed together, the last ones soon', async () => {
  const group = randomUUID()
  const member = aMember(group)
  await kafka.produce([aRecord()])
  await eventually('the first record', () => member.received.length > 0)
  const startedAt = performance.now()
  for (let count = 2; count <= 40; count++) {
    await kafka.produce([aRecord()])
    await eventually('the record', () => member.received.length >= count)
  }
  await eventually('all are committed', async () => (await lagOf(group)) === 0)
  const own = commits.filter(({ groupId }) => groupId === prefix + group)
  expect(own.length).toBeGreaterThan(0)
  expect(own.length).toBeLessThanOrEqual((performance.now() - startedAt) / COMMIT_WITHIN_MS + 2)
  await member.stop()
})

test('a member that stops has committed what it has processed: the next one begins behind it', async () => {
  const group = randomUUID()
  const first = aMember(group)
  await kafka.produce(Array.from({ length: 30 }, (_, index) => aRecord(String(index))))
  await eventually('all records', () => first.received.length >= 30)
  await first.stop()
  expect(await lagOf(group)).toBe(0)
  const second = aMember(group)
  await kafka.produce([aRecord()])
  await eventually('the next record', () => second.received.length > 0)
  expect(second.received).toHaveLength(1)
  expect(first.received).not.toContain(second.received[0])
  await second.stop()
})
