import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { kafkaPrefixOf } from './testing/stack-process.ts'
import { eventOf, isGenuine } from './testing/webhooks.ts'
import { demoApi, newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const receiver = await startReceiver()

interface Endpoint {
  readonly id: string
  readonly secret: string
}

interface Deliveries {
  readonly total: number
  readonly items: { event_id: string; event_type: string; status: string; attempts_made: number }[]
}

it.each([
  ['live', true],
  ['sandbox', false],
])('delivers the signed product.created of a product made in the %s workspace', async (name, livemode) => {
  const api = demoApi(stack.description(), livemode)
  const subscription = { url: `${receiver.url}/${name}`, enabled_events: ['product.created'] }
  const { status, body: endpoint } = await api<Endpoint>('POST', '/v1/webhooks', subscription)
  expect(status).toBe(201)

  const { body: product } = await api<Product>('POST', '/v1/products', aProduct())
  const arrival = await eventually('the webhook', () =>
    receiver.requests.find((request) => request.path === `/${name}` && eventOf(request).data.id === product.id),
  )

  expect(isGenuine(arrival, endpoint.secret)).toBe(true)
  expect(isGenuine({ ...arrival, body: Buffer.from(`${arrival.body} `) }, endpoint.secret)).toBe(false)
  expect(eventOf(arrival)).toEqual({
    id: arrival.headers['webhook-id'],
    type: 'product.created',
    timestamp: product.created_at,
    livemode,
    data: product,
  })
  const delivery = await eventually('the delivery is recorded', async () => {
    const { body } = await api<Deliveries>('GET', `/v1/webhooks/${endpoint.id}/deliveries`)
    return body.items.find(({ event_id, status }) => event_id === eventOf(arrival).id && status === 'DELIVERED')
  })
  expect(delivery).toMatchObject({ event_type: 'product.created', attempts_made: 1 })
})

it("delivers nothing to another workspace's endpoint, and an endpoint only what it asked for", async () => {
  const [mine, theirs] = [await newWorkspace(stack.description()), await newWorkspace(stack.description())]
  await theirs.api('POST', '/v1/webhooks', { url: `${receiver.url}/theirs`, enabled_events: ['*'] })
  await mine.api('POST', '/v1/webhooks', { url: `${receiver.url}/tags`, enabled_events: ['tag.created'] })
  await mine.api('POST', '/v1/webhooks', { url: `${receiver.url}/all`, enabled_events: ['*'] })

  await mine.api('POST', '/v1/products', aProduct({ tags: ['New'] }))
  const typesAt = (path: string) =>
    receiver.requests.filter((request) => request.path === path).map((request) => eventOf(request).type)
  await eventually('both events at the endpoint for all', () => typesAt('/all').length === 2)
  expect(typesAt('/all').sort()).toEqual(['product.created', 'tag.created'])
  await eventually('the tag event at the endpoint for tags', () => typesAt('/tags').length === 1)
  expect(typesAt('/theirs')).toEqual([])
})

it('npx backoffice finds the stack: it lists its workspaces and dead letters, and checks its stock', async () => {
  const backoffice = async (...args: string[]) => {
    const environment = { ...process.env, STACK_DIR: stack.directory, KAFKA_PREFIX: kafkaPrefixOf(stack.directory) }
    return promisify(execFile)('node', ['infra/cli/backoffice.mjs', ...args], { env: environment })
  }
  // The list begins with the newest.
  const { id } = await newWorkspace(stack.description())
  const listed = await backoffice('workspaces', 'list', '--json', '--limit', '100')
  const ids = JSON.parse(listed.stdout).items.map(({ id }: { id: string }) => id)
  expect(ids).toContain(id)

  const checked = await backoffice('checks', 'check-stock')
  expect(checked.stdout).toMatch(/^check-stock: variants: [1-9]\d*, found: 0\n$/)
  const [reconciled, all] = await Promise.all([
    backoffice('checks', 'reconcile', '--workspace', id),
    backoffice('checks', 'list', '--json'),
  ])
  expect(reconciled.stdout).toMatch(/^reconcile: events: \d+, .*, found: 0\n$/)
  expect(JSON.parse(all.stdout)).toMatchObject({ unanswered: [] })
  const letters = await backoffice('dead-letters', 'list', '--json')
  expect(JSON.parse(letters.stdout)).toEqual({ consumers: [], unanswered: [] })
  const { services, unanswered } = JSON.parse((await backoffice('outbox', 'list', '--json')).stdout)
  expect([services.map(({ service }: { service: string }) => service), unanswered]).toEqual([
    ['gateway', 'catalog', 'collections', 'orders', 'imports', 'apps'],
    [],
  ])
  expect((await backoffice('dead-letters', 'of', 'catalog.returns')).stdout).toBe('none\n')
  expect((await backoffice('dead-letters', 'replay', 'catalog.returns')).stdout).toContain('again: 0;')
  expect((await backoffice('outbox', 'refused', 'catalog')).stdout).toBe('none\n')
  await expect(backoffice('checks', 'reconcile', '--since', 'yesterday')).rejects.toMatchObject({ code: 2 })
})
