import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { rolePasswords } from '@backoffice/local/secrets.ts'
import type { StackEnvironment } from '@backoffice/local/service-settings.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type MovingAddress, startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { startPooler } from '@backoffice/testing/pooler.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect } from 'vitest'
import { apiWith } from './api.ts'
import { prepareDeployment, type VersionSettings } from './deployment.ts'
import { expectNothingLost } from './nothing-lost.ts'
import { startLoad } from './platform-load.ts'
import { aProduct } from './products.ts'
import { startShopLoad } from './shop-load.ts'
import { startStandby } from './standby.ts'
import { untilDelivered } from './webhook-proof.ts'
import { startEndpointReceiver } from './webhook-receivers.ts'
import { newWorkspace } from './workspaces.ts'

/** How long the address leads nowhere, before the standby is promoted. */
const AWAY_MS = 20_000
const BACK_WITHIN_MS = 30_000
const RECOVERY_MS = 60_000

/** Waits until each part of the API has answered once, and a product can be created. */
async function untilAnswering({ gateway, admin_token }: StackDescription, api: ReturnType<typeof apiWith>) {
  const admin = apiWith(gateway, admin_token)
  const isUp = (path: string, request: () => Promise<{ status: number }>) =>
    eventually(
      `${path} answers`,
      () =>
        request().then(
          ({ status }) => status < 300,
          () => false,
        ),
      RECOVERY_MS,
    )
  const paths = ['/v1/products', '/v1/customers', '/v1/orders', '/v1/collections', '/v1/imports', '/v1/webhooks']
  await Promise.all([
    ...paths.map((path) => isUp(path, () => api('GET', path))),
    isUp('creating a product', () => api('POST', '/v1/products', aProduct())),
    isUp('the admin API', () => admin('GET', '/admin/v1/workspaces')),
  ])
}

/** Leads the connections for requests of every other service through a pooler: the settings of each. */
async function throughPooler({ postgres: url, secrets }: StackEnvironment): Promise<VersionSettings> {
  const pooled = SERVICE_NAMES.filter((_, index) => index % 2 === 0)
  const urls = pooled.map((name) => [name, roleUrl(url, schemaOf(name), rolePasswords(secrets))] as const)
  const pooler = await startPooler(urls.map(([, own]) => own))
  return Object.fromEntries(urls.map(([name, own]) => [name, { DATABASE_URL: pooler.through(own) }]))
}

/**
 * Lets the host of the primary vanish under load of the API, Kafka and webhooks, promotes a synchronous standby and
 * moves the address. Expects that the API is back in time and that nothing confirmed was lost. Returns the milliseconds
 * from the promotion on, and how much load there was.
 */
export async function failOver() {
  Object.assign(process.env, { KAFKA_PREFIX: '', LOG_LEVEL: 'warn' })
  /** The address of the primary, as a name in DNS is. */
  let address: MovingAddress | undefined
  let primary = ''
  const deployment = await prepareDeployment({
    replicas: 1,
    // As often as Kubernetes asks.
    askReadinessEvery: '5s',
    async addressOf(server) {
      primary = server
      address = await startMovingAddress(server)
      return address.through(server)
    },
  })
  const { stack, directory } = deployment
  const producer = connectKafka({ brokers: stack.kafka, clientId: 'load', logger: silent })
  whenDone(() => producer.stop())
  const standby = await startStandby(primary, join(directory, 'standby'))
  whenDone(() => standby.stop())
  await deployment.start({ settings: await throughPooler(stack) })
  const description: StackDescription = JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))
  const since = new Date()
  const created = async () => {
    const workspace = await newWorkspace(description).catch(() => undefined)
    return workspace?.key === undefined ? undefined : workspace
  }
  // The balancer notices a new replica with the next probe.
  const [shop, platform] = [await eventually('a workspace', created), await eventually('another workspace', created)]
  await untilAnswering(description, shop.api)
  const receiver = await startEndpointReceiver()
  for (const { api } of [shop, platform])
    expect((await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })).status).toBe(201)
  const clients = startShopLoad({ origin: stack.urls.gateway ?? '', key: shop.key, clients: 4, isRepeated: () => true })
  const events = startLoad(producer, platform.id, 20, { isPoisoned: false })
  await eventually('orders are placed and events arrive', () => clients.orders.length > 5 && receiver.arrivals.size > 5)

  address?.vanish()
  standby.loseOrigin()
  await pause(AWAY_MS)
  await standby.promote()
  primary = standby.url
  address?.moveTo(primary)
  const movedAt = performance.now()
  await untilAnswering(description, shop.api)
  const backMs = Math.round(performance.now() - movedAt)

  const before = clients.orders.length
  await eventually('orders are placed again', () => clients.orders.length > before + 5, RECOVERY_MS)
  await Promise.all([clients.stop(), events.stop()])
  const sql = postgres(primary, { max: 1, onnotice: () => undefined })
  whenDone(() => sql.end())
  const stored = async (table: string, ids: readonly string[]) =>
    (await sql<{ id: string }[]>`select id from ${sql(table)} where id = any(${ids as string[]}::uuid[])`).map(
      ({ id }) => id,
    )
  expect((await stored('catalog.product', clients.products)).sort()).toEqual([...clients.products].sort())
  expect((await stored('orders.sales_order', clients.orders)).sort()).toEqual([...clients.orders].sort())
  await untilDelivered(sql, platform.id, { events: events.events, endpoints: 1 }, RECOVERY_MS)
  await expectNothingLost(sql, directory, since)
  expect(backMs).toBeLessThan(BACK_WITHIN_MS)
  return { backMs, orders: clients.orders.length, events: events.events.length }
}
