import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { retry } from '@backoffice/runtime/retry.ts'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { connectKafka } from './kafka.ts'
import { silent } from './testing/kafka.ts'

test('the members of groups are counted at once when a broker has started that still loads them', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'broker-'))
  chmodSync(directory, 0o755)
  whenDone(() => rmSync(directory, { recursive: true, force: true }))
  const groups = Array.from({ length: 17 }, (_, index) => `group-${index}`)
  const opened = async () => {
    const broker = await startKafka({ directory })
    const kafka = connectKafka({ brokers: broker.brokers, clientId: 'test', logger: silent })
    const stop = async () => {
      await kafka.stop()
      await broker.stop()
    }
    return { kafka, stop }
  }

  const before = await opened()
  // The more partitions a broker has, the later it loads its groups.
  const topics = Array.from({ length: 8 }, (_, index) => `topic-${index}`)
  await before.kafka.createTopics(topics.map((name) => ({ name, partitions: 48, replicas: 1, config: {} })))
  // Its first group makes a broker create the topic of offsets.
  await retry(
    () => before.kafka.countMembers(groups),
    () => 100,
  )
  await before.stop()

  const { kafka, stop } = await opened()
  whenDone(stop)
  expect(new Set((await kafka.countMembers(groups)).values())).toEqual(new Set([0]))
})
