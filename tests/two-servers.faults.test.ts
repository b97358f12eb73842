import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { randomFrom } from '@backoffice/testing/random.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { startPostgres } from '@backoffice/testing/servers/postgres.ts'
import postgres from 'postgres'
import { afterAll, expect, it, vi } from 'vitest'
import { backofficeIn } from './testing/backoffice.ts'
import { ordersOf, type Placed } from './testing/orders.ts'
import { aProduct } from './testing/products.ts'
import { startStack } from './testing/stack.ts'
import { reconciled } from './testing/webhook-proof.ts'
import { eventOf } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

/** Catalog's schema is on one server, those of all other services on the other. */
const directory = mkdtempSync(join(tmpdir(), 'two-servers-'))
chmodSync(directory, 0o755)
const start = (name: string) => startPostgres({ directory: join(directory, name) })
const servers = { catalog: await start('catalog'), others: await start('others') }
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()))
  rmSync(directory, { recursive: true, force: true })
})
// For the check commands too, which get this process's environment.
vi.stubEnv('KAFKA_PREFIX', `two-servers-${randomUUID()}.`)
const stack = await startStack({
  KAFKA_PREFIX: process.env.KAFKA_PREFIX,
  DATABASE_URL: servers.others.url,
  ADMIN_DATABASE_URL_CATALOG: servers.catalog.url,
})
const atCatalog = postgres(servers.catalog.url, { max: 1, onnotice: () => undefined })
afterAll(() => atCatalog.end())

const KILLS = 5
const CLIENTS = 4
const RECOVERY_MS = 120_000
/** The longest time that a killed server is away. */
const AWAY_MS = 3000

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
console.log(`SEED=${seed} kills at the same moments`)
const random = randomFrom(seed)

it('a service finds its own schema on its server and no other', async () => {
  const schemasOf = async (sql: postgres.Sql) => {
    const rows = await sql<{ name: string }[]>`
      select schema_name as name from information_schema.schemata where schema_owner = 'backoffice_migrator' order by name`
    return rows.map(({ name }) => name)
  }
  expect(await schemasOf(atCatalog)).toEqual(['catalog'])
  expect(await schemasOf(stack.sql)).not.toContain('catalog')
})

it(`orders, projection and webhooks agree after ${KILLS} kills of one server or the other under load`, async () => {
  const since = new Date()
  const receiver = await startReceiver()
  const arrived = new Set<string>()
  receiver.answerWith((response, request) => {
    const { type, data } = eventOf(request)
    if (type === 'order.created') arrived.add(data.id)
    response.writeHead(200).end()
  })
  const { api, id: workspaceId } = await newWorkspace(stack.description())
  const { placeSurely, untilClean, variant } = ordersOf(stack, api)
  await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 50 }] }
  const collection = { name: 'In stock', published: true, membership_type: 'SMART', rules }
  expect((await api('POST', '/v1/collections', collection)).status).toBe(201)

  const initial = [6, 6, 100_000, 100_000]
  const variants = await Promise.all(initial.map(variant))
  const answers = new Map<string, Placed>()
  const created = { count: 0 }
  let isOver = false
  const placing = async () => {
    while (!isOver) {
      const key = randomUUID()
      const items = [
        { variant: variants[Math.floor(random() * variants.length)], quantity: 1 + Math.floor(random() * 3) },
      ]
      answers.set(key, await placeSurely(key, items))
    }
  }
  const creating = async () => {
    while (!isOver) {
      const [product, headers] = [aProduct({ stock: 100 }), { 'idempotency-key': randomUUID() }]
      await eventually(
        'the product is created',
        async () => {
          const answer = await api('POST', '/v1/products', product, headers).catch(() => undefined)
          return answer?.status === 201
        },
        RECOVERY_MS,
      )
      created.count++
    }
  }
  const load = Promise.all([...Array.from({ length: CLIENTS }, placing), creating()])
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const [before, products] = [answers.size, created.count]
      const isUnderWay = () => answers.size > before + 10 && created.count > products + 2
      await eventually('orders and products are made', isUnderWay, RECOVERY_MS)
      const server = kill % 2 === 0 ? servers.catalog : servers.others
      await server.kill()
      await pause(random() * AWAY_MS)
      await server.start()
    }
  } finally {
    isOver = true
    await load
  }

  expect(new Set([...answers.values()].map(({ status }) => status))).toEqual(new Set([201, 409]))
  await untilClean()
  const placed = [...answers].flatMap(([note, { status, body }]) => (status === 201 ? [{ id: body.id, note }] : []))
  const orders = await stack.sql<{ id: string; note: string }[]>`
    select id, note from orders.sales_order where workspace_id = ${workspaceId}`
  const byNote = (a: { note: string }, b: { note: string }) => (a.note < b.note ? -1 : 1)
  expect([...orders].sort(byNote)).toEqual(placed.sort(byNote))

  await eventually(
    'the projection equals the catalog',
    async () => {
      const versions = (sql: postgres.Sql, schema: string) => sql<{ id: string; version: number }[]>`
        select id, version::integer from ${sql(`${schema}.product`)} where workspace_id = ${workspaceId} order by id`
      const [catalog, known] = await Promise.all([versions(atCatalog, 'catalog'), versions(stack.sql, 'collections')])
      return catalog.length === created.count + variants.length && JSON.stringify(catalog) === JSON.stringify(known)
    },
    RECOVERY_MS,
  )
  const [counted] = await atCatalog<[{ count: number }]>`
    select count(*)::integer from catalog.product where workspace_id = ${workspaceId}
      and id in (select product_id from catalog.variant where workspace_id = ${workspaceId} and stock > 50)`
  await eventually(
    'the collection has every product of its rule',
    async () => (await api<Collection>('GET', '/v1/collections/in-stock')).body.product_count === counted.count,
    RECOVERY_MS,
  )
  expect(await backofficeIn(stack.directory, 'checks', 'check-members')).toContain('found: 0')
  await eventually('every order was told', () => placed.every(({ id }) => arrived.has(id)), RECOVERY_MS)
  await eventually(
    'every delivery is delivered',
    async () => {
      const [open] = await stack.sql`
        select from webhook_delivery.delivery where workspace_id = ${workspaceId} and status <> 'DELIVERED' limit 1`
      return open === undefined
    },
    RECOVERY_MS,
  )
  console.log(await reconciled(stack, since, ['--workspace', workspaceId]))
  console.log(`${answers.size} requests, ${placed.length} orders, ${created.count} products`)
}, 600_000)
