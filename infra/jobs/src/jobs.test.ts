import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { topics } from '@backoffice/contracts/topics.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { MIGRATOR, roleUrl } from '@backoffice/postgres/provision.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import postgres from 'postgres'
import { afterAll, expect, it } from 'vitest'

const { kafkaBrokers, registryUrl } = backingServices()
const database = await emptyDatabase()
const roles = [MIGRATOR, ...SERVICE_NAMES.map(schemaOf).flatMap((schema) => [schema, `${schema}_worker`])]

const KAFKA_PREFIX = `test-${randomUUID()}.`
const settings = {
  ADMIN_DATABASE_URL: database.url,
  ROLE_PASSWORDS: JSON.stringify(Object.fromEntries(roles.map((role) => [role, passwordOf(role)]))),
  KAFKA_BROKERS: kafkaBrokers.join(','),
  KAFKA_PREFIX,
  KAFKA_PARTITIONS: '4',
  KAFKA_REPLICATION_FACTOR: '1',
  SCHEMA_REGISTRY_URL: registryUrl,
}

afterAll(() => database.drop())

function withPassword(password: string): string {
  const url = new URL(database.url)
  url.password = password
  return url.href
}

/** Runs a command as a container does, and returns its exit code and the last line of its log. */
async function run(job: string, args: string[] = [], environment: Record<string, string> = settings) {
  const file = join(import.meta.dirname, `${job}.ts`)
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment }
  return new Promise<{ code: number; log: Record<string, unknown> }>((resolve) => {
    execFile(process.execPath, [file, ...args], { env }, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), log: JSON.parse(stdout.trim().split('\n').at(-1) || '{}') })
    })
  })
}

/** Runs a command twice at the same time. Both runs have to succeed. */
async function runTwice(job: string) {
  const codes = await Promise.all([run(job), run(job)])
  expect(
    codes.map(({ code }) => code),
    JSON.stringify(codes),
  ).toEqual([0, 0])
}

async function as<Row extends postgres.Row>(role: string, query: (sql: postgres.Sql) => postgres.PendingQuery<Row[]>) {
  const sql = postgres(roleUrl(database.url, role, passwordOf), { max: 1, onnotice: () => undefined })
  return (await query(sql).finally(() => sql.end())) as Row[]
}

it('provision and migrate make every schema with its roles and tables, and may be repeated, also at the same time', async () => {
  await runTwice('provision')
  await runTwice('migrate')
  expect(await run('provision')).toMatchObject({ code: 0 })
  for (const service of SERVICE_NAMES) {
    expect(await as(schemaOf(service), (sql) => sql`select count(*)::int as rows from outbox`)).toEqual([{ rows: 0 }])
    const migrations = await as(
      schemaOf(service),
      (sql) => sql`select name, count(*)::int from migration group by name`,
    )
    expect(new Set(migrations.map(({ count }) => count))).toEqual(new Set([1]))
  }
})

it('migrate takes the names of services, and refuses an unknown one', async () => {
  expect(await run('migrate', ['orders'])).toMatchObject({ code: 0, log: { services: ['orders'] } })
  const { code, log } = await run('migrate', ['order'])
  expect(code).toBe(1)
  expect(log).toMatchObject({ err: { message: expect.stringContaining('no such service: order; there are gateway') } })
})

it('a missing address or password is named, and the log has no password', async () => {
  const without = { CATALOG_PASSWORD: 'one-of-three', ADMIN_DATABASE_URL: database.url }
  const { code, log } = await run('provision', ['catalog'], without)
  expect(code).toBe(1)
  expect(JSON.stringify(log)).toContain('BACKOFFICE_MIGRATOR_PASSWORD: is missing')
  expect(JSON.stringify(log)).not.toContain('one-of-three')
  const elsewhere = { ...settings, ADMIN_DATABASE_URL: '', ADMIN_DATABASE_URL_CATALOG: database.url }
  expect(await run('provision', ['catalog'], elsewhere)).toMatchObject({ code: 0 })
  expect(JSON.stringify(await run('provision', [], elsewhere))).toContain('ADMIN_DATABASE_URL_GATEWAY too')
})

it.each([
  ['provision', { ADMIN_DATABASE_URL: withPassword('wrong') }, 'ADMIN_DATABASE_URL: PostgreSQL refuses the user'],
  ['migrate', { BACKOFFICE_MIGRATOR_PASSWORD: 'wrong' }, 'BACKOFFICE_MIGRATOR_PASSWORD: PostgreSQL refuses the user'],
])('%s names the setting whose password PostgreSQL refuses', async (job, differences, message) => {
  const { code, log } = await run(job, ['catalog'], { ...settings, ...differences })
  expect(code).toBe(1)
  expect(log).toMatchObject({ err: { message: expect.stringContaining(message) } })
})

it('topics makes every topic, also when it runs twice at the same time', async () => {
  await runTwice('topics')
  const kafka = connectKafka({
    brokers: kafkaBrokers,
    clientId: 'test',
    prefix: KAFKA_PREFIX,
    logger: createLogger('test', 'silent'),
  })
  const present = await kafka.topics(topics(1).map(({ name }) => name))
  await kafka.stop?.()
  const declared = topics(Number(settings.KAFKA_PARTITIONS))
  const partitions = declared.map(({ name, partitions }) => [name, partitions])
  expect([...present].map(([name, topic]) => [name, topic.partitions]).toSorted()).toEqual(partitions.toSorted())
})

it('topics fails and names what differs from what is declared, and mends it with --fix', async () => {
  const here = { ...settings, KAFKA_PREFIX: `test-${randomUUID()}.` }
  const hour = { 'cleanup.policy': 'delete', 'retention.ms': '3600000' }
  await createTopics(kafkaBrokers, [{ name: TOPICS.catalogProducts, partitions: 4, config: hour }], {
    prefix: here.KAFKA_PREFIX,
    replicationFactor: 1,
  })
  const difference = 'catalog.products: cleanup.policy is delete, declared is compact'
  const { code, log } = await run('topics', [], here)
  expect(code).toBe(1)
  expect(log).toMatchObject({ err: { message: expect.stringContaining(difference) } })
  expect(await run('topics', ['--fix'], here)).toMatchObject({
    code: 0,
    log: { mended: expect.arrayContaining([difference]) },
  })
  expect(await run('topics', [], here)).toMatchObject({ code: 0, log: { mended: [] } })
})

it('schemas registers every record type', async () => {
  expect(await run('schemas')).toMatchObject({ code: 0 })
  const subjects = (await (await fetch(`${registryUrl}/subjects`)).json()) as string[]
  const types = Object.entries(RECORDS).flatMap(([topic, shapes]) =>
    Object.keys(shapes).map((type) => `${topic}-${type}`),
  )
  expect(subjects).toEqual(expect.arrayContaining(types))
})
