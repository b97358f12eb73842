import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Product } from '@backoffice/contracts/product.ts'
import { consumersOf, SERVICES } from '@backoffice/contracts/services.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller, headersFor } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { SERVER_CONNECTIONS, startPooler } from '@backoffice/testing/pooler.ts'
import { startServiceProcess } from '@backoffice/testing/service-process.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { aSimpleProduct } from './products/testing/product-samples.ts'

const { admin, appUrl, workerUrl } = await testDatabase('catalog')
const pooler = await startPooler([appUrl])
const { kafkaBrokers: brokers, registryUrl } = backingServices()
const prefix = `pooled-${crypto.randomUUID()}.`
const consumed = consumersOf('catalog').flatMap(({ name, topics }) => [...topics, `${name}.dead-letters`])
const topics = [...new Set([...SERVICES.catalog.publishes, ...consumed])]
await createTopics(
  brokers,
  topics.map((name) => ({ name, partitions: 1, config: {} })),
  { prefix, replicationFactor: 1 },
)
const directory = await mkdtemp(join(tmpdir(), 'catalog-'))
whenDone(() => rm(directory, { recursive: true, force: true }))
const catalog = await startServiceProcess('catalog', {
  DATABASE_URL: pooler.through(appUrl),
  WORKER_DATABASE_URL: workerUrl,
  KAFKA_BROKERS: brokers.join(','),
  KAFKA_PREFIX: prefix,
  SCHEMA_REGISTRY_URL: registryUrl,
  ASSETS_DIRECTORY: directory,
  ASSETS_URL: 'http://127.0.0.1/assets',
})
await catalog.ready()

/** The gateway answers that the service did not answer in time after 20 s. */
const ANSWERED_WITHIN_MS = 20_000

async function send<Body = { error?: { code: string } }>(caller: Caller, method: string, path: string, body?: unknown) {
  const startedAt = performance.now()
  const response = await fetch(`${catalog.url}${path}`, {
    method,
    headers: { ...(await headersFor(path)(caller, 'catalog')), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = { status: response.status, body: (await response.json()) as Body }
  return { ...answer, tookMs: performance.now() - startedAt }
}

const callers = Array.from({ length: 6 }, () => aCaller())
const create = (caller: Caller) =>
  send<Product & { error?: { code: string } }>(caller, 'POST', '/v1/products', aSimpleProduct())
const list = (caller: Caller) => send<{ items: Product[]; error?: { code: string } }>(caller, 'GET', '/v1/products')
const created = new Map<Caller, string[]>(callers.map((caller) => [caller, []]))

/** Every caller creates and lists at once, `rounds` times. Returns the codes of the refusals. */
async function load(rounds: number): Promise<Set<string | undefined>> {
  const refusals = new Set<string | undefined>()
  const one = async (caller: Caller) => {
    for (let round = 0; round < rounds; round++) {
      const [made, listed] = await Promise.all([create(caller), list(caller)])
      if (made.status === 201) created.get(caller)?.push(made.body.id)
      for (const { status, body, tookMs } of [made, listed]) {
        if (status >= 400) refusals.add(body.error?.code)
        expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS)
      }
    }
  }
  await Promise.all(callers.flatMap((caller) => [one(caller), one(caller)]))
  return refusals
}

/** Each workspace has its own products. A creation that failed while it was committed may have taken effect. */
async function expectOwnProducts() {
  for (const caller of callers) {
    const rows = await admin<{ id: string }[]>`select id from product where workspace_id = ${caller.workspaceId}`
    const stored = new Set(rows.map(({ id }) => id))
    expect((created.get(caller) ?? []).filter((id) => !stored.has(id))).toEqual([])
    const { body } = await list(caller)
    expect(body.items.filter(({ id }) => !stored.has(id))).toEqual([])
    expect(body.items.length).toBeGreaterThan(0)
  }
}

const sessions = async () =>
  (await admin`select from pg_stat_activity where usename = 'catalog' and datname = current_database()`).length

test('requests of many workspaces at once are served over three connections', async () => {
  expect(await load(10)).toEqual(new Set())
  await expectOwnProducts()
  expect(await sessions()).toBeLessThanOrEqual(SERVER_CONNECTIONS)
})

test('while the pooler is killed requests are service_unavailable, and the service goes on with the next pooler', async () => {
  for (let kill = 0; kill < 3; kill++) {
    const loading = load(10)
    await pooler.kill()
    expect((await create(callers[0] as Caller)).body.error?.code).toBe('service_unavailable')
    await eventually('it says that it is not ready', async () => (await catalog.readiness()) !== 'ready')
    await pooler.start()
    await eventually('it is ready', async () => (await catalog.readiness()) === 'ready')
    expect([...(await loading)].filter((code) => code !== 'service_unavailable')).toEqual([])
    await expect.poll(() => load(2)).toEqual(new Set())
  }
  await expectOwnProducts()
})

test('while the pooler hangs requests are service_unavailable in time, and the service goes on when it does', async () => {
  const loading = load(20)
  pooler.hang()
  await eventually('it says that it is not ready', async () => (await catalog.readiness()) !== 'ready')
  const codes = await Promise.all(callers.map(async (caller) => (await create(caller)).body.error?.code))
  expect(new Set(codes)).toEqual(new Set(['service_unavailable']))
  pooler.resume()
  await eventually('it is ready', async () => (await catalog.readiness()) === 'ready')
  const refusals = await loading
  expect([...refusals].filter((code) => code !== 'service_unavailable')).toEqual([])
  await expect.poll(() => load(2)).toEqual(new Set())
  await expectOwnProducts()
  expect(catalog.output()).not.toContain('"level":60')
})
