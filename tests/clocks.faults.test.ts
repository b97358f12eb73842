import { fileURLToPath } from 'node:url'
import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import { importsOf } from './testing/imports.ts'
import { aProduct } from './testing/products.ts'
import { startStack } from './testing/stack.ts'
import { eventOf } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const WRONG_CLOCK = fileURLToPath(new URL('testing/wrong-clock.mjs', import.meta.url))
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** One service's clock is a month ahead, the next one's a month behind. */
const wrongBy = (days: number) =>
  Object.fromEntries(SERVICE_NAMES.map((name, index) => [name, index % 2 === 0 ? days : -days]))

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

describe.each([30, -30])(
  'clocks of hosts that are wrong by %d days, every other one the other way (OP-302)',
  async (days) => {
    const [stack, receiver] = await Promise.all([
      startStack({ NODE_OPTIONS: `--import=${WRONG_CLOCK}`, DAYS_WRONG: JSON.stringify(wrongBy(days)) }),
      startReceiver(),
    ])

    it('the processes of all services have such clocks', async () => {
      for (const [name, { operations }] of Object.entries(stack.description().services)) {
        const metrics = await (await fetch(new URL('/metrics', operations))).text()
        const startedAt = Number(/^process_start_time_seconds(?:\{.*\})? ([\d.e+]+)$/m.exec(metrics)?.[1])
        expect(Math.round((startedAt * 1000 - Date.now()) / DAY_MS), name).toBe(wrongBy(days)[name])
      }
    })

    it('requests are taken, events arrive, and times and ids are right', async () => {
      const workspace = await newWorkspace(stack.description())
      const { api } = workspace
      const done = async <Body>(method: string, path: string, body?: unknown) => {
        const answer = await api<Body>(method, path, body)
        expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
        return answer.body
      }
      const startedAt = Date.now()
      const isRight = (time: number) => Math.abs(time - startedAt) < 2 * MINUTE_MS
      const endpoint = await done<{ id: string }>('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })
      const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
      const publish_at = new Date(startedAt - MINUTE_MS).toISOString()
      const window = { publish_at, unpublish_at: new Date(startedAt + 60 * MINUTE_MS).toISOString() }
      await done('POST', '/v1/collections', {
        name: 'In stock',
        published: true,
        membership_type: 'SMART',
        rules,
        ...window,
      })
      const product = await done<Product>('POST', '/v1/products', aProduct())
      await eventually('the product joins the collection', async () => {
        const { body } = await api<Collection>('GET', '/v1/collections/in-stock')
        return body.product_count === 1
      })
      const items = [{ variant: product.variants[0]?.id, quantity: 2 }]
      const customer = { firstname: 'Ada', email: 'ada@example.com' }
      const placed = { currency: 'NGN', status: 'PLACED', items, customer }
      const order = await done<{ id: string; order_datetime: string }>('POST', '/v1/orders', placed)
      await done('POST', `/v1/orders/${order.id}/payments`, { amount: 900_000, currency: 'NGN', reference: 'till-1' })
      const imports = importsOf(stack, workspace)
      const { body: uploaded } = await imports.upload('customers', 'firstname,email\nGrace,grace@example.com\n')
      await imports.atRest(uploaded.id)
      await imports.start(uploaded.id)
      expect(await imports.atRest(uploaded.id)).toMatchObject({ status: 'COMPLETED' })

      const awaited = ['collection.created', 'product.created', 'order.created', 'order.paid', 'import.completed']
      await eventually('all events arrive', () => {
        const types = receiver.requests.map((request) => eventOf(request).type)
        return awaited.every((type) => types.includes(type))
      })
      const times = [
        product.created_at,
        product.updated_at,
        order.order_datetime,
        ...receiver.requests.map((one) => String(eventOf(one).timestamp)),
      ]
      expect(times.filter((time) => !isRight(Date.parse(time)))).toEqual([])
      const signed = receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']) * 1000)
      expect(signed.filter((time) => !isRight(time))).toEqual([])
      const ids = [
        endpoint.id,
        product.id,
        order.id,
        uploaded.id,
        ...receiver.requests.map(({ headers }) => String(headers['webhook-id'])),
      ]
      expect(ids.filter((id) => !isRight(timeOf(id)))).toEqual([])
    })
  },
)
