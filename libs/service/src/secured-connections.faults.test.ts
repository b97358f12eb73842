import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { FEW_PARTITIONS, topics } from '@backoffice/contracts/topics.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import type { KafkaServers } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { collect, silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { registerSchemas } from '@backoffice/messaging/registry/register-schemas.ts'
import { refuseWrongRegistry } from '@backoffice/messaging/registry/registry-client.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { databaseProbe } from '@backoffice/postgres/database-probe.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { isUnavailable } from '@backoffice/postgres/postgres-errors.ts'
import { MIGRATOR, migratorUrl, type PasswordOf, provision, roleUrl } from '@backoffice/postgres/provision.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { testAuthority } from '@backoffice/testing/certificates.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import { type ServiceProcess, startServiceProcess } from '@backoffice/testing/service-process.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, test } from 'vitest'
import { closingAtLogin, LOGIN, securedKafka, securedPostgres, securedRegistry } from './testing/secured-servers.ts'

const { ca, server: certificate, expired } = testAuthority()
const { ca: otherCa } = testAuthority()
const [postgresUrl, brokers, registryUrl, expiredRegistryUrl] = await Promise.all([
  securedPostgres(certificate),
  securedKafka(certificate),
  securedRegistry(certificate),
  securedRegistry(expired),
])
const [expiredBrokers, closingBrokers] = await Promise.all([
  closingAtLogin(expired, brokers),
  closingAtLogin(certificate, brokers),
])
const SERVICES = ['catalog', 'webhook-delivery'] as const

const caFile = join(tmpdir(), `ca-${process.pid}.pem`)
writeFileSync(caFile, ca)
const KAFKA = {
  KAFKA_BROKERS: brokers.join(),
  KAFKA_TLS: 'true',
  KAFKA_CA_FILE: caFile,
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: LOGIN.username,
  KAFKA_SASL_PASSWORD: LOGIN.password,
}
const REGISTRY = {
  SCHEMA_REGISTRY_URL: registryUrl,
  SCHEMA_REGISTRY_USERNAME: LOGIN.username,
  SCHEMA_REGISTRY_PASSWORD: LOGIN.password,
  SCHEMA_REGISTRY_CA: ca,
}
const databasesOf = (service: string) => ({
  DATABASE_URL: roleUrl(postgresUrl, schemaOf(service), passwordOf),
  WORKER_DATABASE_URL: roleUrl(postgresUrl, `${schemaOf(service)}_worker`, passwordOf),
  DATABASE_CA: ca,
})
const settingsOf = (service: (typeof SERVICES)[number]): Record<string, string> => ({
  ...databasesOf(service),
  ...KAFKA,
  ...(service === 'catalog' && { ...REGISTRY, ASSETS_DIRECTORY: tmpdir(), ASSETS_URL: 'http://localhost/assets' }),
  ...(service === 'webhook-delivery' && { WEBHOOK_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` }),
})

const secured: KafkaServers = { brokers, tls: { ca }, sasl: { mechanism: 'scram-sha-512', ...LOGIN } }
const registry = { url: registryUrl, login: LOGIN, ca }

/** Migrates with a query of the URL. */
function migrateOver(query: string, authority?: string, service: (typeof SERVICES)[number] = 'catalog') {
  const directory = fileURLToPath(new URL(`../../../services/${service}/migrations`, import.meta.url))
  const url = migratorUrl(postgresUrl, passwordOf) + query
  return migrate({ url, ca: authority, schema: schemaOf(service), directory })
}

await provision(postgresUrl, { schemas: SERVICES.map(schemaOf), passwordOf, ca })
await Promise.all([
  ...SERVICES.map((service) => migrateOver('', ca, service)),
  createTopics(brokers, topics(FEW_PARTITIONS), { ...secured, replicationFactor: 1 }),
  registerSchemas(registry),
])

/** Runs a command with these settings. */
const command = (file: string, settings: Record<string, string>) =>
  new Promise<{ code: number; output: string; errors: string }>((resolve) => {
    const script = fileURLToPath(new URL(`../../../${file}`, import.meta.url))
    const env = { PATH: process.env.PATH, ...settings }
    execFile(process.execPath, [script], { env }, (error, output, errors) =>
      resolve({ code: Number(error?.code ?? 0), output, errors }),
    )
  })

const createCategory = async ({ url }: ServiceProcess) =>
  fetch(`${url}/v1/categories`, {
    method: 'POST',
    headers: { ...(await headersOf(aCaller(), 'catalog')), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ankara' }),
  })

test('a change reaches Kafka through servers that demand TLS and a login', async () => {
  const catalog = await startServiceProcess('catalog', settingsOf('catalog'))
  await catalog.ready()
  const kafka = connectKafka({ ...secured, clientId: 'test', logger: silent })
  whenDone(() => kafka.stop())
  const events = collect(kafka, TOPICS.catalogEvents)
  const response = await createCategory(catalog)
  expect(response.status).toBe(201)
  const { id } = (await response.json()) as { id: string }
  expect(await events.atLeast(1)).toMatchObject([{ key: id }])
  expect(await catalog.end('SIGTERM')).toBe(0)
})

test('a service with connections of its own beside its pools gets ready over TLS too', async () => {
  const webhooks = await startServiceProcess('webhook-delivery', settingsOf('webhook-delivery'))
  await webhooks.ready()
  expect(await webhooks.end('SIGTERM')).toBe(0)
})

test('commands connect as services do', async () => {
  const databases = databasesOf('catalog')
  const republished = await command('services/catalog/src/products/republish-products.ts', { ...databases, ...KAFKA })
  expect(republished).toMatchObject({ code: 0, output: 'states requested: 0\n' })
  const reseal = 'services/webhook-delivery/src/secrets/reseal.ts'
  const webhooks = settingsOf('webhook-delivery')
  expect(await command(reseal, webhooks)).toMatchObject({ code: 0, output: expect.stringContaining('resealed: 0') })
  const { code, errors } = await command(reseal, { ...webhooks, DATABASE_CA: otherCa })
  expect(code).toBe(1)
  expect(errors).toMatch(/^configuration: DATABASE_CA: no TLS connection to the server of WORKER_DATABASE_URL: .*\n$/)
})

describe('PostgreSQL', () => {
  const url = roleUrl(postgresUrl, 'catalog', passwordOf)
  const plain = backingServices().postgresUrl
  test.each([
    ['another authority', { url, ca: otherCa }, 'DATABASE_CA: no TLS connection to the server of DATABASE_URL: '],
    ['no TLS', { url }, 'DATABASE_CA: is missing; the server of DATABASE_URL demands TLS'],
    [
      'a wrong password',
      { url: roleUrl(postgresUrl, 'catalog', () => 'wrong'), ca },
      'DATABASE_URL: PostgreSQL refuses the user or the password',
    ],
    ['another host than the certificate names', { url: url.replace('127.0.0.1', 'localhost'), ca }, 'DATABASE_CA: '],
    ['TLS, to a server without it', { url: plain, ca }, 'the server does not speak TLS'],
  ])('is refused with the name of the setting: %s', async (_what, server, message) => {
    await expect(refuseWrongDatabase(server, 'DATABASE_URL')).rejects.toThrow(message)
  })
})

describe('migrations', () => {
  test.each(['', '?sslmode=require', '?sslmode=no-verify', '?sslmode=disable'])(
    'with DATABASE_CA verify the server, whatever the URL says: %s',
    async (query) => {
      await migrateOver(query, ca)
      await expect(migrateOver(query, otherCa)).rejects.toThrow('certificate')
    },
  )

  test('without it read sslmode as the services do', async () => {
    await migrateOver('?sslmode=require')
    await expect(migrateOver('?sslmode=verify-full')).rejects.toThrow('certificate')
    await expect(migrateOver('')).rejects.toThrow('no encryption')
  })
})

describe('Kafka', () => {
  const connect = async (differences: Partial<KafkaServers>) => {
    const kafka = connectKafka({ ...secured, ...differences, clientId: 'test', logger: silent })
    await kafka.start().finally(() => kafka.stop())
  }
  const login = secured.sasl
  test.each<[string, Partial<KafkaServers>, string]>([
    ['another authority', { tls: { ca: otherCa } }, 'KAFKA_CA: no TLS connection to Kafka: '],
    ['an authority that Node.js does not know', { tls: {} }, 'KAFKA_TLS: no TLS connection to Kafka: '],
    ['a wrong password', { sasl: login && { ...login, password: 'wrong' } }, 'KAFKA_SASL_PASSWORD: '],
    ['another mechanism', { sasl: login && { ...login, mechanism: 'plain' } }, 'KAFKA_SASL_MECHANISM: '],
  ])('is refused with the name of the setting: %s', async (_what, differences, message) => {
    await expect(connect(differences)).rejects.toThrow(message)
  })

  const plain = backingServices().kafkaBrokers
  test.each([
    ['closes connections with TLS', plain, 'no TLS connection to Kafka: the server does not speak TLS, or is away'],
    ['has an expired certificate', expiredBrokers, 'certificate has expired (CERT_HAS_EXPIRED)'],
    ['closes connections at the login', closingBrokers, 'authentication failed: Closed connection'],
  ])('is away, with the reason, while it %s', async (_what, elsewhere, message) => {
    const kafka = connectKafka({ ...secured, brokers: elsewhere, clientId: 'test', logger: silent })
    whenDone(() => kafka.stop())
    await kafka.start()
    await expect(kafka.reach()).rejects.toThrow(message)
  })
})

describe('the schema registry', () => {
  const login = { ...LOGIN, password: 'wrong' }
  test.each([
    [
      'another authority',
      { ...registry, ca: otherCa },
      'SCHEMA_REGISTRY_CA: no TLS connection to the schema registry: ',
    ],
    ['a wrong password', { ...registry, login }, 'SCHEMA_REGISTRY_PASSWORD: '],
    ['no login', { ...registry, login: undefined }, 'SCHEMA_REGISTRY_USERNAME: is missing'],
  ])('is refused with the name of the setting: %s', async (_what, server, message) => {
    await expect(refuseWrongRegistry(server, silent)).rejects.toThrow(message)
  })

  test('is away while it has an expired certificate', async () => {
    await refuseWrongRegistry({ ...registry, url: expiredRegistryUrl }, silent)
  })
})

test.each([
  ['DATABASE_CA', { DATABASE_CA: otherCa }],
  ['KAFKA_SASL_PASSWORD', { KAFKA_SASL_PASSWORD: 'wrong' }],
  ['SCHEMA_REGISTRY_PASSWORD', { SCHEMA_REGISTRY_PASSWORD: 'wrong' }],
])('a service ends with one line that names %s', async (name, differences) => {
  const catalog = await startServiceProcess('catalog', { ...settingsOf('catalog'), ...differences })
  await catalog.exited
  const errors = catalog
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 'error')
  expect(errors).toHaveLength(1)
  expect(errors[0]?.msg).toMatch(new RegExp(`^configuration: ${name}: `))
  for (const secret of [LOGIN.password, passwordOf('catalog')]) expect(catalog.output()).not.toContain(secret)
})

test.each([
  ['KAFKA_TLS', { KAFKA_TLS: 'false', KAFKA_CA_FILE: '' }],
  ['SCHEMA_REGISTRY_URL', { SCHEMA_REGISTRY_URL: registryUrl.replace('https', 'http'), SCHEMA_REGISTRY_CA: '' }],
])('without TLS to a server that closes the connection, a service waits and names %s', async (name, differences) => {
  const catalog = await startServiceProcess('catalog', { ...settingsOf('catalog'), ...differences })
  await eventually('it says so', () => catalog.output().includes(`${name}`))
  expect(await catalog.end('SIGKILL')).toBe(null)
})

test('with new passwords of its roles a replica works on, and starts again with the new ones alone', async () => {
  const { DATABASE_URL: _, WORKER_DATABASE_URL: __, ...others } = settingsOf('catalog')
  const [appFile, workerFile] = ['app', 'worker'].map((role) => join(tmpdir(), `catalog-${role}-${process.pid}`))
  const secret = { ...others, DATABASE_URL_FILE: appFile ?? '', WORKER_DATABASE_URL_FILE: workerFile ?? '' }
  const writeSecret = (passwords: PasswordOf) => {
    writeFileSync(secret.DATABASE_URL_FILE, roleUrl(postgresUrl, 'catalog', passwords))
    writeFileSync(secret.WORKER_DATABASE_URL_FILE, roleUrl(postgresUrl, 'catalog_worker', passwords))
  }
  const setPasswords = (passwords: PasswordOf) =>
    provision(postgresUrl, { schemas: ['catalog'], passwordOf: passwords, ca })
  writeSecret(passwordOf)
  const replica = await startServiceProcess('catalog', secret)
  await replica.ready()

  // As docs/operations.md says: first the Secret, then the roles, then the restarts.
  const newPasswordOf: PasswordOf = (role) => (role === MIGRATOR ? passwordOf(role) : `new-${role}`)
  writeSecret(newPasswordOf)
  const early = await startServiceProcess('catalog', secret)
  await eventually('it ends', () =>
    early.output().includes('DATABASE_URL: PostgreSQL refuses the user or the password'),
  )
  await setPasswords(newPasswordOf)
  expect((await createCategory(replica)).status).toBe(201)
  expect(await replica.readiness()).toBe('ready')
  const restarted = await startServiceProcess('catalog', secret)
  await restarted.ready()
  expect(await replica.end('SIGTERM')).toBe(0)
  expect((await createCategory(restarted)).status).toBe(201)
  await setPasswords(passwordOf)
})

test('a statement over TLS fails as unavailable when the host of PostgreSQL vanished, and the next goes elsewhere', async () => {
  const url = roleUrl(postgresUrl, 'catalog', passwordOf)
  const address = await startMovingAddress(url)
  const server = { url: address.through(url), ca }
  const database = openDatabase({ ...server, applicationName: 'moved', poolSize: 1, idleSeconds: 1 })
  whenDone(() => void database.stop?.())
  const probe = databaseProbe(
    { ...server, setting: 'DATABASE_URL', applicationName: 'probe' },
    { logger: silent, fatal: () => undefined },
  )
  whenDone(() => probe.stop?.())
  await probe.start?.()
  await database.sql`select 1`
  address.vanish()
  const waiting = database.sql`select 1`.catch((error: unknown) => error)
  await expect(probe.isReady?.()).rejects.toThrow()
  address.moveTo(url)
  const isOver = async () => (await probe.isReady?.()) && (await Promise.race([waiting, undefined]))
  expect(isUnavailable(await eventually('it has failed', isOver))).toBe(true)
  expect(await database.sql`select 7 as seven`).toEqual([{ seven: 7 }])
})
