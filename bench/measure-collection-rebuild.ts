import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { serviceDirectory } from '@backoffice/local/services.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { type PasswordOf, roleUrl } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'
import { ownDatabase } from './own-database.ts'
import { statePublisher } from './product-states.ts'
import type { Row } from './table.ts'

const PRODUCTS = 200_000
const PARTITIONS = 6
const REBUILD = join(serviceDirectory('collections'), 'src/products/rebuild.ts')
/** Kafka deletes the records of the topic after the measurement. */
const RETENTION_MS = 10 * 60_000

/**
 * Products per second of the rebuild command, its start included: into an empty projection, and into one that is equal
 * to the topic. Beside COPY of the same rows into a table with the same indexes. It has its own topic and database,
 * because the running service would build all its collections anew meanwhile.
 */
export async function measureCollectionRebuild(stack: StackDescription, passwordOf: PasswordOf): Promise<Row[]> {
  const prefix = `bench-${process.pid}-`
  const config = { 'cleanup.policy': 'delete', 'retention.ms': String(RETENTION_MS) }
  const topic = { name: TOPICS.catalogProducts, partitions: PARTITIONS, config }
  await createTopics(stack.kafka, [topic], { prefix, replicationFactor: 1 })
  const publisher = await statePublisher(stack, randomUUID(), prefix)
  await publisher.publishMany(PRODUCTS)
  await publisher.stop()

  const database = await ownDatabase(stack.postgres, 'collections', passwordOf)
  const environment = {
    WORKER_DATABASE_URL: roleUrl(database.url, 'collections_worker', passwordOf),
    KAFKA_BROKERS: stack.kafka.join(','),
    KAFKA_PREFIX: prefix,
  }
  const first = await rebuild(environment)
  const again = await rebuild(environment)
  const floor = await copyAgain(database.url)
  await database.drop()
  const perSecond = (seconds: number) => `${(PRODUCTS / seconds).toFixed(0)}/s`
  return [
    {
      name: `rebuild of ${PRODUCTS.toLocaleString('en')} products, into an empty projection`,
      measured: perSecond(first),
      floor: `${perSecond(floor)} by COPY`,
      ratio: floor / first,
      bound: '≥ 20,000/s',
    },
    {
      name: `rebuild of ${PRODUCTS.toLocaleString('en')} products, over an equal projection`,
      measured: perSecond(again),
      bound: '≥ 20,000/s',
    },
  ]
}

/** The seconds of the command. */
async function rebuild(environment: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [REBUILD], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the rebuild exited ${code}`)
  return (performance.now() - startedAt) / 1000
}

/** The seconds of COPY. */
async function copyAgain(url: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { search_path: 'collections' } })
  const rows: Buffer[] = []
  for await (const row of await sql`copy product to stdout`.readable()) rows.push(row)
  await sql`create table copied (like product including all)`
  const startedAt = performance.now()
  await pipeline(Readable.from(rows), await sql`copy copied from stdin`.writable())
  const seconds = (performance.now() - startedAt) / 1000
  const [{ copied } = { copied: 0 }] = await sql<[{ copied: number }]>`select count(*)::integer as copied from copied`
  if (copied !== PRODUCTS) throw new Error(`${copied} products were rebuilt`)
  await sql.end()
  return seconds
}
