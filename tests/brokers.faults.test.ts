import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { aTopic, collect, silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startKafkaCluster } from '@backoffice/testing/servers/kafka.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { prepareDeployment } from './testing/deployment.ts'
import { controllerOf, untilInSync, untilLedByOthers } from './testing/kafka-cluster.ts'
import { expectNothingLost } from './testing/nothing-lost.ts'
import { aProduct } from './testing/products.ts'
import { startShopLoad } from './testing/shop-load.ts'
import { updatesReader } from './testing/updates-reader.ts'
import { newWorkspace } from './testing/workspaces.ts'

const RECOVERY_MS = 60_000
const PRODUCTS = 4
/** The pause after each change: the brokers need the processors. */
const PAUSE_MS = 50

const folder = mkdtempSync(join(tmpdir(), 'backoffice-brokers-'))
const prefix = `brokers-${randomUUID()}.`
Object.assign(process.env, { KAFKA_PREFIX: prefix, LOG_LEVEL: 'warn' })
const { servers, brokers } = await startKafkaCluster({ directory: folder })
whenDone(async () => {
  await Promise.all(servers.map((server) => server.kill()))
  rmSync(folder, { recursive: true, force: true })
})
const deployment = await prepareDeployment({ replicas: 1, cluster: brokers })
const { directory, stack } = deployment
const sql = postgres(stack.postgres, { max: 2, onnotice: () => undefined })
whenDone(() => sql.end())
const kafka = connectKafka({ brokers, clientId: 'test', prefix, logger: silent })
whenDone(() => kafka.stop())
const description = (): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))

type Api = Awaited<ReturnType<typeof newWorkspace>>['api']

/** Changes a product again and again, one change after the other. */
function startUpdates(api: Api, id: string) {
  const names = ['Cup']
  let [isOver, slowestMs] = [false, 0]
  const run = async () => {
    while (!isOver) {
      const startedAt = performance.now()
      const name = `Cup ${names.length}`
      expect((await api('PUT', `/v1/products/${id}`, { name })).status).toBe(200)
      names.push(name)
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      await pause(PAUSE_MS)
    }
  }
  const ended = run()
  ended.catch(() => undefined)
  const stop = async () => {
    isOver = true
    await ended
  }
  whenDone(() => {
    isOver = true
  })
  return { id, names, stop, slowestMs: () => slowestMs }
}

it('records for a broker that is lost reach the next leader, also when that has answered for its own partitions', async () => {
  const [topic, partitions] = ['things', 12]
  await createTopics(brokers, [{ ...aTopic(topic), partitions }], { prefix, replicationFactor: 3 })
  const records = (round: string) =>
    Array.from({ length: 60 }, (_, index) => ({ topic, key: `${index}`, value: Buffer.from(round), headers: {} }))
  await kafka.produce(records('before'))
  const [lost] = servers
  // It answers no more, and is replaced by the other leaders. They answer once it counts as away.
  lost?.signal('SIGSTOP')
  const produced = kafka.produce(records('while lost'))
  await untilLedByOthers(brokers.slice(1), 1, RECOVERY_MS)
  await lost?.kill()
  await produced
  const things = collect(kafka, topic)
  const missing = () => {
    const arrived = new Set(things.records.map(({ key, value }) => `${value} ${key}`))
    return records('while lost').filter(({ key }) => !arrived.has(`while lost ${key}`))
  }
  await kafka.produce([{ topic, key: 'end', value: Buffer.from('end'), headers: {} }])
  await eventually('all have arrived', () => missing().length === 0, RECOVERY_MS / 2).catch(() => undefined)
  expect(missing().map(({ key }) => key)).toEqual([])
  await lost?.start()
  await untilInSync(brokers, RECOVERY_MS)
}, 120_000)

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1)

it('the controller of three brokers, another one, and two at once may be killed under load: the API accepts, and all arrives in order', async () => {
  const since = new Date()
  await deployment.start({})
  const { api, key } = await newWorkspace(description())
  const create = async () => (await api<{ id: string }>('POST', '/v1/products', aProduct({ name: 'Cup' }))).body.id
  const products = await Promise.all(Array.from({ length: PRODUCTS }, create))
  const reader = updatesReader(kafka)
  reader.start()
  const updates = products.map((id) => startUpdates(api, id))
  const load = startShopLoad({ origin: description().gateway, key, clients: 2, isRepeated: () => false })

  /** Waits until changes that are made from now on have arrived. */
  const untilNewArrive = async (what: string) => {
    const made = updates.map(({ id, names }) => ({ id, name: names.at(-1) ?? '' }))
    const haveArrived = () => made.every(({ id, name }) => reader.namesOf(id).includes(name))
    await eventually(`${what}: changes arrive`, haveArrived, RECOVERY_MS)
  }
  const untilAccepted = async (what: string) => {
    const before = [load.orders.length, ...updates.map(({ names }) => names.length)]
    const now = () => [load.orders.length, ...updates.map(({ names }) => names.length)]
    const areMore = () => now().every((count, index) => count > (before[index] ?? 0) + 2)
    await eventually(`${what}: the API accepts changes`, areMore, RECOVERY_MS)
  }
  await untilNewArrive('before')

  const killOne = async (what: string, server: (typeof servers)[number]) => {
    const killedAt = performance.now()
    await server.kill()
    await untilAccepted(what)
    await untilNewArrive(what)
    const arriving = seconds(killedAt)
    await server.start()
    await untilInSync(brokers, RECOVERY_MS)
    console.log(`${what} killed: changes arrived again after ${arriving} s, all copies in sync ${seconds(killedAt)} s`)
  }
  const controller = controllerOf(servers) ?? expect.fail('there is no controller')
  await killOne('the controller', controller)
  const [another] = servers.filter((server) => server !== controllerOf(servers))
  await killOne('another broker', another ?? controller)

  const killedAt = performance.now()
  const two = servers.slice(0, 2)
  await Promise.all(two.map((server) => server.kill()))
  await untilAccepted('two brokers')
  const waiting = async () => {
    const [row] = await sql<{ rows: number }[]>`
      select count(*)::integer as rows from catalog.outbox where published_at is null`
    return row?.rows ?? 0
  }
  await eventually('changes wait in the outbox', async () => (await waiting()) > 100, RECOVERY_MS)
  const startedAt = performance.now()
  await Promise.all(two.map((server) => server.start()))
  await untilNewArrive('two brokers')
  await untilInSync(brokers, RECOVERY_MS)
  console.log(`two brokers away for ${seconds(killedAt)} s: changes arrived ${seconds(startedAt)} s after their start`)

  await Promise.all([load.stop(), ...updates.map(({ stop }) => stop())])
  expect(load.failures).toEqual([])
  await eventually(
    'all changes arrive',
    () => updates.every(({ id, names }) => reader.namesOf(id).includes(names.at(-1) ?? '')),
    RECOVERY_MS,
  )
  // A record that comes again changes nothing, so only the first of each counts.
  for (const { id, names } of updates) expect([...new Set(reader.namesOf(id))]).toEqual(names)
  const read = updates.reduce((sum, { id }) => sum + reader.namesOf(id).length, 0)
  const made = updates.reduce((sum, { names }) => sum + names.length, 0)
  const slowest = Math.max(...updates.map(({ slowestMs }) => slowestMs()))
  console.log(`${made} changes, ${read - made} came again, the slowest took ${Math.round(slowest)} ms`)
  await expectNothingLost(sql, directory, since)
}, 480_000)
