import type { Order } from '@backoffice/contracts/order.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { subscribedAt } from './testing/subscriber.ts'

const stack = await sharedStack()
const receiver = await startReceiver()

it('the erasure of a customer leaves no personal data in any service', async () => {
  const { change, api, eventsSoFar } = await subscribedAt(receiver, stack.description())
  const product = await change<Product>('POST', '/v1/products', aProduct({ price: { EUR: 1500 } }))
  const secrets = ['Zerubbabel', 'zerubbabel@example.com', 'Quay 99', 'gate code 4711', 'engraved for Z.']
  const [firstname, email, street, note, engraving] = secrets
  const form = {
    currency: 'EUR',
    items: [{ sku: product.variants[0]?.sku, quantity: 1, engraving }],
    customer: { firstname, email },
    shipping_address: { street },
    note,
  }
  const order = (await api<Order>('POST', '/v1/orders', form, { 'idempotency-key': 'one' })).body
  await eventsSoFar(3)
  expect(await rowsWith(secrets)).not.toEqual([])

  await change('DELETE', `/v1/customers/${order.customer?.id}`)
  expect((await api('GET', `/v1/customers/${order.customer?.id}`)).status).toBe(404)
  expect(await change<Order>('GET', `/v1/orders/${order.id}`)).toMatchObject({ customer: null, total_price: 1500 })
  // The outbox and Kafka keep published records for a time; the erasure is about what the services store.
  await eventually('no table has any of it', async () => (await rowsWith(secrets)).length === 0)
  expect(await change<Order>('GET', `/v1/orders/${order.id}`)).toMatchObject({
    shipping_address: null,
    note: null,
    items: order.items,
  })
})

/** The tables of all services, the outboxes apart, that have a row with one of the texts. */
async function rowsWith(texts: readonly string[]): Promise<string[]> {
  const tables = await stack.sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
    where schemaname in ('gateway', 'catalog', 'collections', 'orders', 'webhook_delivery') and tablename <> 'outbox'`
  const found = await Promise.all(
    tables.map(async ({ schema, name }) => {
      const [row] = await stack.sql<[{ has: boolean }]>`
        select exists (
          select from ${stack.sql(schema)}.${stack.sql(name)} as row
          where row::text like any(${texts.map((text) => `%${text}%`)})
        ) as has`
      return row.has ? [`${schema}.${name}`] : []
    }),
  )
  return found.flat()
}
