import { createServer } from 'node:net'
import { consumersOf, deadLetterTopic } from '@backoffice/contracts/services.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { aTopic, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { operatorRequests } from './operator-requests.ts'

const { workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
whenDone(() => worker.stop?.())

/** A broker that takes connections and answers nothing, as one that hangs. */
async function aSilentBroker() {
  const broker = createServer((socket) => socket.on('error', () => undefined))
  const port = await freePort()
  await new Promise<void>((resolve) => broker.listen(port, '127.0.0.1', resolve))
  whenDone(() => void broker.close())
  return port
}

const countsOf = (requests: ReturnType<typeof operatorRequests>) =>
  requests
    .find(({ path }) => path === '/internal/dead-letters/counts')
    ?.handle({ query: { since: new Date(0).toISOString() } } as never)

test.each([
  ['hangs', aSilentBroker],
  ['is away', freePort],
])('operators read that Kafka does not answer when it %s', async (_, port) => {
  const kafka = connectKafka({ brokers: [`127.0.0.1:${await port()}`], clientId: 'test', logger: silent })
  whenDone(() => kafka.stop())
  await expect(countsOf(operatorRequests({ name: 'catalog', kafka, worker }))).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'Kafka does not answer catalog now; try again',
  })
})

test('operators read what Kafka refuses when it answers, as without the topics', async () => {
  const { kafka } = await testKafka([])
  await expect(countsOf(operatorRequests({ name: 'catalog', kafka, worker }))).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'Kafka refuses a request of catalog: This server does not host this topic-partition',
  })
})

test('operators read that PostgreSQL is away when it is', async () => {
  const { kafka } = await testKafka(consumersOf('catalog').map(({ name }) => aTopic(deadLetterTopic(name))))
  const away = openDatabase({ url: `postgres://nobody@127.0.0.1:${await freePort()}/none`, applicationName: 'test' })
  whenDone(() => away.stop?.())
  await expect(countsOf(operatorRequests({ name: 'catalog', kafka, worker: away }))).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'PostgreSQL cannot serve catalog now; try again',
  })
})

test('an error of the code is blamed on neither Kafka nor PostgreSQL', async () => {
  const { kafka } = await testKafka([])
  const bug = new TypeError('a bug')
  const broken = { ...kafka, offsetsAt: () => Promise.reject(bug) }
  await expect(countsOf(operatorRequests({ name: 'catalog', kafka: broken, worker }))).rejects.toBe(bug)
})
