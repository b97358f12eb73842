import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { startPostgres } from '@backoffice/testing/servers/postgres.ts'
import postgres from 'postgres'
import { afterAll, expect, vi } from 'vitest'
import { startStack } from './stack.ts'
import type { EndpointReceiver } from './webhook-receivers.ts'
import { newWorkspace } from './workspaces.ts'

/** A retry every two seconds for 90 seconds. */
const RETRY_DELAYS = ['0s', ...Array(45).fill('2s')].join(',')
const ENVIRONMENT = { LOG_LEVEL: 'warn', KAFKA_PREFIX: '', WEBHOOK_RETRY_DELAYS: RETRY_DELAYS }

/** Starts a stack for the calling test file, with a PostgreSQL and a Kafka of its own, because they are stopped. */
export async function startWebhookStack() {
  const directory = mkdtempSync(join(tmpdir(), 'webhook-faults-'))
  chmodSync(directory, 0o755)
  const [kafka, database] = await Promise.all([
    startKafka({ directory: join(directory, 'kafka') }),
    startPostgres({ directory: join(directory, 'postgres') }),
  ])
  afterAll(async () => {
    await Promise.all([kafka.stop(), database.stop()])
    rmSync(directory, { recursive: true, force: true })
  })
  // For the replicas, which get this process's environment.
  for (const [name, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(name, value)
  const stack = await startStack({
    ...ENVIRONMENT,
    KAFKA_BROKERS: kafka.brokers.join(','),
    DATABASE_URL: database.url,
  })
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  const producer = connectKafka({ brokers: kafka.brokers, clientId: 'load', logger: silent })
  afterAll(() => Promise.all([sql.end(), producer.stop()]))
  return {
    kafka,
    database,
    stack,
    sql,
    producer,
    /** A new workspace with an endpoint for all events at each receiver. */
    async subscribed(receivers: readonly EndpointReceiver[]) {
      const since = new Date()
      const workspace = await newWorkspace(stack.description())
      for (const { url } of receivers) {
        const { status } = await workspace.api('POST', '/v1/webhooks', { url, enabled_events: ['*'] })
        expect(status).toBe(201)
      }
      return { ...workspace, since }
    },
  }
}
