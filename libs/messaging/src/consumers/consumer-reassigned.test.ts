import { metricsText } from '@backoffice/runtime/metrics.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { test } from 'vitest'
import type { Kafka, MemberOptions } from '../kafka/kafka-connection.ts'
import { testConsumer } from './testing/consumer.ts'

test('a consumer that gets a partition back has not waited for it meanwhile', async () => {
  const notes = await testConsumer()
  const options: MemberOptions[] = []
  const consume: Kafka['consume'] = (given) => {
    options.push(given)
    return notes.kafka.consume(given)
  }
  const failing = () => Promise.reject(Object.assign(new Error('away'), { code: 'EPIPE' }))
  await notes.start(failing, { stalledAfterMs: 2500, kafka: { ...notes.kafka, consume } })
  await notes.send(notes.aKey(), 'waits')
  const waitedFor = async () => {
    const [, seconds] =
      /^consumer_waiting_seconds\{consumer="test\.notes"[^}]*\} ([\d.]+)$/m.exec(await metricsText()) ?? []
    return Number(seconds ?? 0)
  }
  await eventually('it waits', async () => (await waitedFor()) > 2)
  options[0]?.onAssigned?.(new Set())
  await eventually('it waits anew', async () => (await waitedFor()) < 2)
})
