import { randomUUID } from 'node:crypto'
import { consumersOf, deadLetterTopic } from '@backoffice/contracts/services.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { startServiceProcess } from '@backoffice/testing/service-process.ts'
import { afterAll, expect, test } from 'vitest'
import { anEvent, type CreatedEndpoint } from './testing/webhooks-api.ts'

const { appUrl, workerUrl, admin } = await testDatabase('webhook-delivery')
const receiver = await startReceiver()
const prefix = `main-test-${process.pid}.`
const brokers = backingServices().kafkaBrokers
const consumed = consumersOf('webhook-delivery')
const topics = consumed.flatMap(({ name, topics }) => [...topics, deadLetterTopic(name)])
await createTopics(
  brokers,
  topics.map((name) => ({ name, partitions: 1, config: {} })),
  { prefix, replicationFactor: 1 },
)
const kafka = connectKafka({ brokers, clientId: 'test', prefix, logger: createLogger('test', 'silent') })
afterAll(() => kafka.stop())

const startProcess = (differences: Readonly<Record<string, string>> = {}) =>
  startServiceProcess('webhook-delivery', {
    DATABASE_URL: appUrl,
    WORKER_DATABASE_URL: workerUrl,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_PREFIX: prefix,
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    WEBHOOK_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    ...differences,
  })

async function createEndpoint(url: string, path: string) {
  const caller = aCaller()
  const response = await fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: { ...(await headersOf(caller, 'webhook-delivery')), 'content-type': 'application/json' },
    body: JSON.stringify({ url: `${receiver.url}${path}`, enabled_events: ['*'] }),
  })
  return { caller, endpoint: (await response.json()) as CreatedEndpoint }
}

const produce = (value: Buffer) => kafka.produce([{ topic: topics[0] ?? '', key: 'key', value, headers: {} }])
const wireFormat = (event: unknown) => Buffer.concat([Buffer.alloc(5), Buffer.from(JSON.stringify(event))])
const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)

test('an event on Kafka is delivered, and what was in flight at a kill -9 is delivered by the next process', async () => {
  const killed = await startProcess()
  await killed.ready()
  const { caller, endpoint } = await createEndpoint(killed.url, '/hook')
  receiver.answerWith(() => undefined)
  await produce(wireFormat({ ...anEvent(caller), member_of_a_later_version: 1 }))
  await eventually('it is in flight', () => receivedAt('/hook').length === 1)
  await killed.end('SIGKILL')

  receiver.answerWith((response) => response.writeHead(204).end())
  const next = await startProcess()
  await next.ready()
  await eventually('it is delivered', async () => {
    const [row] = await admin`select status from delivery where endpoint_id = ${endpoint.id}`
    return row?.status === 'DELIVERED'
  })
  expect(receivedAt('/hook')).toHaveLength(2)
  expect(new Set(receivedAt('/hook').map(({ body }) => body.toString())).size).toBe(1)

  // An attempt is counted after its transaction has committed.
  await eventually('the attempt is counted', async () => {
    const metrics = await (await fetch(`${next.opsUrl}/metrics`)).text()
    return /webhook_attempts_total\{[^}]*outcome="delivered"[^}]*\} 1/.test(metrics)
  })
  expect(await next.end('SIGTERM')).toBe(0)
  const attempts = next
    .output()
    .split('\n')
    .filter((line) => line.includes('"msg":"attempt"'))
  expect(attempts).toHaveLength(1)
  expect(JSON.parse(attempts[0] ?? '{}')).toMatchObject({ endpoint_id: endpoint.id, attempt: 1, outcome: 'delivered' })
  const key = endpoint.secret.slice('whsec_'.length)
  for (const output of [killed.output(), next.output()]) {
    expect(output).not.toContain(key)
    expect(output).not.toContain('Shirt')
  }
})

test('a secret under a key that no process has keeps none from starting; the log names the key (OP-107)', async () => {
  await admin`
    insert into endpoint (
      workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at
    ) values (
      ${randomUUID()}, ${randomUUID()}, 'https://example.com', '{*}', 'lost', '', now(), now()
    )`
  const started = await startProcess()
  await started.ready()
  expect(started.output()).toContain('WEBHOOK_SECRET_KEYS lacks keys that stored secrets use: lost')
  await eventually('what waits and the partitions are measured', async () => {
    const metrics = await (await fetch(`${started.opsUrl}/metrics`)).text()
    return /^webhook_partitions_ahead_days [78]$/m.test(metrics) && /^webhook_fan_out_backlog_events 0$/m.test(metrics)
  })
  expect(await started.end('SIGTERM')).toBe(0)
})

test('a process that is started while PostgreSQL is away waits for it, and says so (OP-174)', async () => {
  const address = await startMovingAddress(appUrl)
  address.vanish()
  const [app, worker] = [appUrl, workerUrl].map(address.through)
  const started = await startProcess({ DATABASE_URL: app ?? '', WORKER_DATABASE_URL: worker ?? '' })
  await eventually('it says so', () => started.output().includes('PostgreSQL does not answer, trying again'))
  address.moveTo(appUrl)
  await started.ready()
  expect(await started.end('SIGTERM')).toBe(0)
})
