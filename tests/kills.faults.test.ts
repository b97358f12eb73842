import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { afterAll, expect, it } from 'vitest'
import { PIXEL, upload } from './testing/files.ts'
import { aProduct } from './testing/products.ts'
import { startStack } from './testing/stack.ts'
import { eventOf } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-kills-'))
const kafka = await startKafka({ directory })
afterAll(async () => {
  await kafka.stop()
  rmSync(directory, { recursive: true, force: true })
})
const stack = await startStack({ KAFKA_BROKERS: kafka.brokers.join(',') })
const RECOVERY_MS = 60_000

/** A new workspace with a webhook receiver for its products; the receiver is silent between `hang` and `answer`. */
async function subscribed() {
  const receiver = await startReceiver()
  const arrived = new Set<string>()
  const answering = (isHanging: boolean) =>
    receiver.answerWith((response, request) => {
      arrived.add(eventOf(request).data.id)
      if (!isHanging) response.writeHead(200).end()
    })
  answering(false)
  const workspace = await newWorkspace(stack.description())
  await workspace.api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['product.created'] })
  const create = async () => {
    const { status, body } = await workspace.api<Product>('POST', '/v1/products', aProduct())
    expect(status).toBe(201)
    return body.id
  }
  return {
    arrived,
    api: workspace.api,
    key: workspace.key,
    create,
    hang: () => answering(true),
    answer: () => answering(false),
    workspaceId: workspace.id,
  }
}

/** Expects each product to arrive at least once, and exactly one delivery of it, which is DELIVERED. */
async function expectAllDelivered(workspaceId: string, arrived: Set<string>, products: readonly string[]) {
  await eventually('every product has arrived', () => products.every((id) => arrived.has(id)), RECOVERY_MS)
  const rows = await eventually(
    'every delivery is recorded',
    async () => {
      const rows = await stack.sql<{ product: string; status: string }[]>`
        select body::json -> 'data' ->> 'id' as product, status
        from webhook_delivery.delivery
        join webhook_delivery.event on event.id = delivery.event_id
        where delivery.workspace_id = ${workspaceId}`
      return rows.length >= products.length && rows.every(({ status }) => status === 'DELIVERED') && rows
    },
    RECOVERY_MS,
  )
  expect(rows.map(({ product }) => product).sort()).toEqual([...products].sort())
}

it('loses no event when catalog is killed between commit and publish', async () => {
  const { arrived, create, workspaceId } = await subscribed()
  await kafka.kill()
  const products = await Promise.all(Array.from({ length: 20 }, create))
  const [unpublished] = await stack.sql`
    select count(*)::int as n from catalog.outbox where workspace_id = ${workspaceId} and published_at is null`
  expect(unpublished?.n).toBe(40)
  stack.kill('catalog')
  await kafka.start()
  await expectAllDelivered(workspaceId, arrived, products)
})

it('delivers again what webhook-delivery had claimed when it was killed', async () => {
  const { arrived, create, hang, answer, workspaceId } = await subscribed()
  hang()
  const products = await Promise.all(Array.from({ length: 8 }, create))
  await eventually('some are in flight', () => arrived.size > 0)
  stack.kill('webhook-delivery')
  answer()
  await expectAllDelivered(workspaceId, arrived, products)
})

it('makes one product per Idempotency-Key, each delivered and in its collection, and keeps images, while every service is killed', async () => {
  const { arrived, api, key, workspaceId } = await subscribed()
  const { body: asset } = await upload(stack.description().gateway, { authorization: `Bearer ${key}` }, PIXEL)
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
  const collection = { name: 'In stock', published: true, membership_type: 'SMART', rules }
  expect((await api('POST', '/v1/collections', collection)).status).toBe(201)
  const products: string[] = []
  let isLoading = true
  const createOnce = async () => {
    const [product, headers] = [aProduct(), { 'idempotency-key': randomUUID() }]
    await eventually('the product is created', async () => {
      const answer = await api<Product>('POST', '/v1/products', product, headers).catch(() => undefined)
      if (answer?.status !== 201) return false
      products.push(answer.body.id)
      return true
    })
  }
  const load = Array.from({ length: 4 }, async () => {
    while (isLoading) await createOnce()
  })
  for (const service of ['catalog', 'gateway', 'collections', 'webhook-delivery']) {
    const before = products.length
    await eventually('products are created', () => products.length > before + 50)
    stack.kill(service)
  }
  const after = products.length
  await eventually('products are created after the last kill', () => products.length > after + 50)
  isLoading = false
  await Promise.all(load)
  expect(new Set(products).size).toBe(products.length)
  const [kept] = await stack.sql`select count(*)::int as n from catalog.product where workspace_id = ${workspaceId}`
  expect(kept?.n).toBe(products.length)
  expect((await (await fetch(asset.url)).bytes()).length).toBe(asset.size)
  await eventually(
    'the collection has every product',
    async () => (await api<Collection>('GET', '/v1/collections/in-stock')).body.product_count === products.length,
    RECOVERY_MS,
  )
  await expectAllDelivered(workspaceId, arrived, products)
})
