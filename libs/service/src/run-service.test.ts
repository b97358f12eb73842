import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { EVENT_TOPICS, TOPICS } from '@backoffice/contracts/events.ts'
import { calledBy, type ServiceName, urlSetting } from '@backoffice/contracts/services.ts'
import { aTopic, collect, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { registeredSchemas } from '@backoffice/messaging/registry/testing/registered-schemas.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller, headersOf, TOKEN_SETTINGS } from '@backoffice/testing/caller.ts'
import { type TestDatabase, testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'

const SAMPLE = fileURLToPath(new URL('./testing/sample-service.ts', import.meta.url))
const [catalog, gateway, webhooks, { kafka, prefix }] = await Promise.all([
  testDatabase('catalog'),
  testDatabase('gateway'),
  testDatabase('webhook-delivery'),
  testKafka(
    [...EVENT_TOPICS, TOPICS.importsBatches, TOPICS.ordersReservations, TOPICS.gatewayWorkspaces].map((name) =>
      aTopic(name),
    ),
  ),
  registeredSchemas(),
])

const A_RECORD = Buffer.concat([Buffer.alloc(5), Buffer.from('{}')])
const KAFKA = { KAFKA_BROKERS: backingServices().kafkaBrokers.join(), KAFKA_PREFIX: prefix }
const CATALOG = { ...KAFKA, SCHEMA_REGISTRY_URL: backingServices().registryUrl, ...TOKEN_SETTINGS }

/** Runs the sample in the place of a service. */
async function run(name: ServiceName, database: TestDatabase, settings: NodeJS.ProcessEnv, ...flags: string[]) {
  const [port, opsPort] = [await freePort(), await freePort()]
  const urls = Object.fromEntries(calledBy(name).map((called) => [urlSetting(called), 'http://127.0.0.1:1']))
  const child = fork(SAMPLE, [name, ...flags], {
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOST: '127.0.0.1',
      PORT: String(port),
      OPS_PORT: String(opsPort),
      DATABASE_URL: database.appUrl,
      WORKER_DATABASE_URL: database.workerUrl,
      ...urls,
      ...settings,
    },
    execArgv: [],
    silent: true,
  })
  whenDone(() => void child.kill('SIGKILL'))
  const said: string[] = []
  let output = ''
  child.on('message', (message) => said.push(String(message)))
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').then(([code]: unknown[]) => code)
  const readiness = () =>
    fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      async (response) => (await response.text()).trim(),
      () => 'not listening',
    )
  const metrics = async () => (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
  const ready = () => eventually(`${name} is ready: ${output}`, async () => (await readiness()) === 'ready')
  return { url: `http://127.0.0.1:${port}`, child, said, output: () => output, ended, readiness, ready, metrics }
}

/** Makes the broker of the tests answer at another port, too. */
async function startKafkaAt(port: number): Promise<void> {
  const [host = '', brokerPort] = (backingServices().kafkaBrokers[0] ?? '').split(':')
  const proxy = createServer((client) => {
    const broker = connect(Number(brokerPort), host)
    client.pipe(broker).pipe(client)
    for (const socket of [client, broker]) socket.on('error', () => [client, broker].map((each) => each.destroy()))
  })
  await once(proxy.listen(port, '127.0.0.1'), 'listening')
  whenDone(() => void proxy.close())
}

/** How the sample's connections are named in the server's list. */
const connectionsTo = async ({ admin }: TestDatabase): Promise<string[]> => {
  const rows = await admin<{ application_name: string }[]>`
    select distinct application_name from pg_stat_activity
    where datname = current_database() and application_name not like 'postgres%' and application_name <> 'test'`
  return rows.map(({ application_name }) => application_name).sort()
}

test('answers requests, publishes what they commit, consumes its topics, and stops what takes in work before what this uses', async () => {
  const service = await run('catalog', catalog, CATALOG)
  await service.ready()
  const consumers = ['catalog.imports', 'catalog.reservations', 'catalog.returns']
  expect(service.said).toEqual(['component', ...consumers, 'worker'].map((part) => `start ${part}`))

  const events = collect(kafka, TOPICS.catalogEvents)
  const headers = await headersOf(aCaller(), 'catalog')
  const response = await fetch(`${service.url}/v1/tags`, { method: 'POST', headers })
  const { id } = (await response.json()) as { id: string }
  expect(await events.atLeast(1)).toMatchObject([{ key: id }])

  await kafka.produce([{ topic: TOPICS.importsBatches, key: 'a batch', value: A_RECORD, headers: {} }])
  await eventually('it is consumed', () => service.said.includes(`consumed a batch of ${TOPICS.importsBatches}`))

  expect(await (await fetch(`${service.url}/files`)).text()).toBe('a file')
  service.said.length = 0
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect(service.said.slice(0, -1).toSorted()).toEqual([...consumers, 'worker'].map((part) => `stop ${part}`))
  expect(service.said.at(-1)).toBe('stop component')
})

test('finishes the request under way, and stops consumers and workers meanwhile', async () => {
  const service = await run('catalog', catalog, CATALOG)
  await service.ready()
  const locked = await catalog.admin.reserve()
  whenDone(() => locked.release())
  await locked`begin`
  await locked`lock table outbox in share mode`
  const response = fetch(`${service.url}/v1/tags`, { method: 'POST', headers: await headersOf(aCaller(), 'catalog') })
  await eventually('the request waits', async () => {
    const [row] = await catalog.admin`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'catalog' and wait_event_type = 'Lock'`
    return row !== undefined
  })
  service.said.length = 0
  service.child.kill('SIGTERM')
  await eventually('it is stopping', async () => (await service.readiness()) === 'not ready: stopping')
  await eventually('consumers and workers have stopped', () => service.said.length >= 4)
  expect(service.said).not.toContain('stop component')
  await locked`rollback`
  expect((await response).status).toBe(201)
  expect(await service.ended).toBe(0)
  expect(service.said).toHaveLength(5)
})

test('before its migrations it is alive, not ready, and starts nothing that knows their schema; then it goes on', async () => {
  const [next] = await catalog.admin`delete from migration where name = (select max(name) from migration) returning *`
  whenDone(() => catalog.admin`insert into migration ${catalog.admin(next ?? {})} on conflict do nothing`)
  const service = await run('catalog', catalog, CATALOG)
  await eventually('it says so', async () => (await service.readiness()) === 'not ready: starting, migrations')
  await eventually('it logs which', () => service.output().includes(`migrations are missing: ${next?.name}`))
  expect(service.said).toEqual([])
  await catalog.admin`insert into migration ${catalog.admin(next ?? {})}`
  await service.ready()
})

test('a replica that waits for its migrations stops when it is told', async () => {
  const service = await run('catalog', gateway, CATALOG)
  await eventually('it says so', async () => (await service.readiness()) === 'not ready: starting, migrations')
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect(service.said).toEqual([])
})

test('without a broker it serves, and says that Kafka is away; once there is one, it publishes and consumes', async () => {
  const port = await freePort()
  const service = await run('catalog', catalog, { ...CATALOG, KAFKA_BROKERS: `127.0.0.1:${port}` })
  const away = `ready; Kafka has not answered since the start: Connection error: connect ECONNREFUSED 127.0.0.1:${port}`
  await eventually('it is ready', async () => (await service.readiness()).startsWith(away))
  const line = 'Kafka does not answer; if it demands TLS or a login, set KAFKA_TLS'
  await eventually('it logs so', () => service.output().includes(line))
  expect(await service.metrics()).toMatch(/^kafka_reached 0$/m)
  const headers = await headersOf(aCaller(), 'catalog')
  const response = await fetch(`${service.url}/v1/tags`, { method: 'POST', headers })
  expect(response.status).toBe(201)

  const events = collect(kafka, TOPICS.catalogEvents)
  await startKafkaAt(port)
  const { id } = (await response.json()) as { id: string }
  await eventually('the change arrives', () => events.records.some(({ key }) => key === id))
  await service.ready()
  expect(await service.metrics()).toMatch(/^kafka_reached 1$/m)
  await kafka.produce([{ topic: TOPICS.importsBatches, key: 'a batch', value: A_RECORD, headers: {} }])
  await eventually('it is consumed', () => service.said.includes(`consumed a batch of ${TOPICS.importsBatches}`))
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})

test('a replica that has started without Kafka says why it cannot reach it, and serves on', async () => {
  const port = await freePort()
  const settings = { ...CATALOG, KAFKA_BROKERS: `127.0.0.1:${port}`, KAFKA_TLS: 'true' }
  const service = await run('catalog', catalog, settings)
  await eventually('it is ready', async () => (await service.readiness()).startsWith('ready; Kafka has not answered'))
  await startKafkaAt(port)
  const refused = 'no TLS connection to Kafka: the server does not speak TLS, or is away'
  await eventually('it says why', async () => (await service.readiness()).includes(refused))
  await eventually('it logs why', () => service.output().includes(refused))
  const headers = await headersOf(aCaller(), 'catalog')
  expect((await fetch(`${service.url}/v1/tags`, { method: 'POST', headers })).status).toBe(201)
})

test.each(['DATABASE_URL', 'WORKER_DATABASE_URL'])(
  'with the URL of a superuser as %s it ends with one line',
  async (setting) => {
    const { options } = gateway.admin
    const superuser = Object.assign(new URL(gateway.appUrl), { username: options.user, password: String(options.pass) })
    const service = await run('gateway', gateway, { ...CATALOG, [setting]: superuser.href })
    expect(await service.ended).toBe(1)
    const [line, ...others] = service.output().trim().split('\n')
    expect(others).toEqual([])
    expect(JSON.parse(line ?? '').msg).toBe(
      `configuration: ${setting}: connects as postgres, a superuser; use the service's own role, which provisioning creates`,
    )
  },
)

test.each(['DATABASE_URL', 'WORKER_DATABASE_URL'])(
  'with a parameter in %s that PostgreSQL does not know it ends with one line; with one that it knows it starts',
  async (setting) => {
    const url = new URL(setting === 'DATABASE_URL' ? gateway.appUrl : gateway.workerUrl)
    url.searchParams.set('application_name', 'renamed')
    const known = await run('gateway', gateway, { ...CATALOG, [setting]: url.href })
    url.searchParams.set('sslrootcert', 'ca.pem')
    const service = await run('gateway', gateway, { ...CATALOG, [setting]: url.href })
    await known.ready()
    expect(await service.ended).toBe(1)
    const [line, ...others] = service.output().trim().split('\n')
    expect(others).toEqual([])
    expect(JSON.parse(line ?? '').msg).toMatch(
      new RegExp(`^configuration: ${setting}: PostgreSQL refuses a parameter of the connection: .*sslrootcert`),
    )
  },
)

test('a service without operations runs the app that it declares', async () => {
  const service = await run('gateway', gateway, CATALOG)
  await service.ready()
  expect(service.said).toEqual(['start component', 'start gateway.acts', 'start worker'])
  expect(await (await fetch(`${service.url}/v1/products`)).json()).toEqual({ service: 'gateway' })
  const expected = ['gateway', 'gateway relay', 'gateway worker probe']
  await eventually('all have connected', async () => {
    const connections = await connectionsTo(gateway)
    return expected.every((name) => connections.includes(name))
  })
})

test('a service that only consumes needs no schema registry and opens no relay', async () => {
  const service = await run('webhook-delivery', webhooks, { ...KAFKA, ...TOKEN_SETTINGS })
  await service.ready()
  const started = service.said.filter((said) => said.startsWith('start'))
  expect(started).toEqual([
    'start component',
    'start webhook-delivery.fan-out',
    'start webhook-delivery.erasures',
    'start worker',
  ])
  await eventually('a worker has connected', async () =>
    (await connectionsTo(webhooks)).includes('webhook-delivery worker'),
  )
  expect((await connectionsTo(webhooks)).filter((name) => name.includes('relay'))).toEqual([])
})

test('a service that does not run the consumers of its row ends, and says which', async () => {
  const service = await run('catalog', catalog, CATALOG, '--no-consumer')
  expect(await service.ended).toBe(1)
  expect(service.output()).toContain(
    'catalog runs catalog.workspaces (gateway.workspaces); its row in SERVICES has catalog.imports (imports.batches), catalog.reservations (orders.reservations), catalog.returns (orders.returns), catalog.workspaces (gateway.workspaces)',
  )
})

test('a service without its settings ends at once, and names them', async () => {
  const { SCHEMA_REGISTRY_URL, ...incomplete } = CATALOG
  const service = await run('catalog', catalog, incomplete)
  expect(await service.ended).toBe(1)
  expect(
    service
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      level: 'error',
      time: expect.any(String),
      service: 'catalog',
      msg: expect.stringContaining('configuration: SCHEMA_REGISTRY_URL: '),
    },
  ])
  expect(service.said).toEqual([])
})
