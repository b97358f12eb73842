import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { FEW_PARTITIONS, topics } from '@backoffice/contracts/topics.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { deleteTopics } from './testing/delete-topics.ts'
import { prepareDeployment } from './testing/deployment.ts'
import { expectNothingLost, untilPublished } from './testing/nothing-lost.ts'
import { guideBlocks } from './testing/operations-guide.ts'
import { aProduct } from './testing/products.ts'
import { updatesReader } from './testing/updates-reader.ts'
import { newWorkspace } from './testing/workspaces.ts'

const RECOVERY_MS = 120_000
const MORE_PARTITIONS = 24
const PRODUCTS = 12

const prefix = `partitions-${randomUUID()}.`
Object.assign(process.env, { KAFKA_PREFIX: prefix, LOG_LEVEL: 'warn' })
const deployment = await prepareDeployment({ replicas: 1 })
const { directory, stack } = deployment
const sql = postgres(stack.postgres, { max: 2, onnotice: () => undefined })
whenDone(() => sql.end())
const kafka = connectKafka({ brokers: stack.kafka, clientId: 'test', prefix, logger: silent })
whenDone(() => kafka.stop())
const description = (): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))

/** Runs the job `topics`, and returns what it says. */
const fixTopics = () =>
  new Promise<string>((resolve) => {
    const env = {
      ...process.env,
      KAFKA_BROKERS: stack.kafka.join(),
      KAFKA_PARTITIONS: String(MORE_PARTITIONS),
      KAFKA_REPLICATION_FACTOR: '1',
    }
    execFile(process.execPath, ['infra/jobs/src/topics.ts', '--fix'], { env }, (_error, stdout) => resolve(stdout))
  })

const untilAllIsRead = async () => {
  await untilPublished(sql)
  const groups = topics(FEW_PARTITIONS).flatMap(({ name, readers }) => readers.map((group) => ({ group, name })))
  await eventually(
    'all groups have read everything',
    async () => {
      const positions = await Promise.all(groups.map(({ group, name }) => kafka.positions(group, [name])))
      return positions.flat().every(({ lag }) => lag === 0)
    },
    RECOVERY_MS,
  )
}

it('topics get more partitions by the steps of the guide: the records of a key stay in their order, and none is lost', async () => {
  const since = new Date()
  await deployment.start({})
  const reader = updatesReader(kafka)
  reader.start()
  const { api } = await newWorkspace(description())
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
  await api('POST', '/v1/collections', { name: 'In stock', published: true, membership_type: 'SMART', rules })
  const create = async () => (await api<{ id: string }>('POST', '/v1/products', aProduct({ name: 'Cup' }))).body.id
  const products = await Promise.all(Array.from({ length: PRODUCTS }, create))
  const deleted = await create()
  const names: string[] = ['Cup']
  const updateAll = async (times: number) => {
    for (let time = 0; time < times; time++) {
      const name = `Cup ${names.length}`
      names.push(name)
      await Promise.all(products.map((id) => api('PUT', `/v1/products/${id}`, { name })))
    }
  }
  await updateAll(10)
  expect((await api('DELETE', `/v1/products/${deleted}`)).status).toBe(204)
  expect(await fixTopics()).toContain('stop all services first: ')

  const startedAt = performance.now()
  await untilAllIsRead()
  await Promise.all([deployment.stop(), reader.stop()])
  expect(await fixTopics()).toContain('catalog.products: has 6 partitions, declared are 24; it keeps records for ever')
  await deleteTopics(stack.kafka, `${prefix}${TOPICS.catalogProducts}`)
  expect(await fixTopics()).toContain('"msg":"done"')
  const present = await kafka.topics([TOPICS.catalogEvents, TOPICS.catalogProducts])
  expect([...present.values()].map(({ partitions }) => partitions)).toEqual([MORE_PARTITIONS, MORE_PARTITIONS])
  await deployment.start({})
  reader.start()
  const states = guideBlocks('Restore to a point in time', 'sql')
    .join('')
    .split(';')
    .findLast((text) => text.trim())
  await sql.unsafe(states ?? '')
  console.log(`the services were away for at most ${Math.round((performance.now() - startedAt) / 1000)} s`)

  await updateAll(10)
  await eventually(
    'the states are published',
    async () => (await sql`select from catalog.product_refresh limit 1`).length === 0,
    RECOVERY_MS,
  )
  await eventually('all updates are read', () => products.every((id) => reader.namesOf(id).length >= names.length))
  for (const id of products) expect(reader.namesOf(id)).toEqual(names)
  // Else the test shows nothing.
  expect(products.filter((id) => reader.partitionsOf(id).size > 1).length).toBeGreaterThan(0)
  const keys = new Set<string | null>()
  const topic = TOPICS.catalogProducts
  const all = kafka.consume({
    group: 'states',
    topics: [topic],
    concurrency: 3,
    async onBatch(batch) {
      for (const record of batch.records) keys.add(record.key)
    },
  })
  await eventually('the topic has the state of every product', () => products.every((id) => keys.has(id)))
  await all.stop()
  expect(keys.has(deleted)).toBe(false)
  await expectNothingLost(sql, directory, since)
}, 240_000)
