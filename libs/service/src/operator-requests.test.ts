import { createServer } from 'node:net'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
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

test.each([
  ['hangs', aSilentBroker],
  ['is away', freePort],
])('operators read that Kafka does not answer when it %s', async (_, port) => {
  const kafka = connectKafka({ brokers: [`127.0.0.1:${await port()}`], clientId: 'test', logger: silent })
  whenDone(() => kafka.stop())
  const requests = operatorRequests({ name: 'catalog', kafka, worker })
  const counts = requests.find(({ path }) => path === '/internal/dead-letters/counts')
  await expect(counts?.handle({ query: { since: new Date(0).toISOString() } } as never)).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'Kafka does not answer catalog now; try again',
  })
})
