import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { CLIENTS } from './testing/generated-clients.ts'
import { IMPORTERS } from './testing/imported-requests.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

/* Among the fault tests, since it generates and compiles clients. */

/** The time of each test, in milliseconds: they share the machine while they generate, compile and install. */
const TOGETHER_MS = 600_000
/** Above 32 bits, in minor units: 30 million naira. */
const PRICE = 3_000_000_000

interface Product {
  readonly id: string
  readonly name: string
  readonly updated_at: string
}

const stack = await sharedStack()
const { gateway } = stack.description()
const document = await (await fetch(`${gateway}/openapi.json`)).text()

/** The API as it may be later: an order has a member more, in its lines too, and a state that nobody knows yet. */
const later = createServer(async ({ url, headers: { authorization = '' } }, response) => {
  const order = (await (await fetch(`${gateway}${url}`, { headers: { authorization } })).json()) as { items: object[] }
  const items = order.items.map((item) => ({ ...item, engraving: 'Ada' }))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ...order, items, status: 'ON_HOLD', gift: { wrapped: true } }))
}).listen(0, '127.0.0.1')
whenDone(() => later.close())

// Beside the packages that the programs import.
mkdirSync('.local', { recursive: true })
const folder = mkdtempSync(join(process.cwd(), '.local', 'clients-'))
whenDone(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'openapi.json'), document)

// At the same time: they wait for packages that they install.
it.concurrent.each(Object.entries(CLIENTS))(
  'a client of %s changes what it names alone, reads large amounts, and what has grown',
  async (name, client) => {
    const { key, api } = await newWorkspace(stack.description())
    const { body: product } = await api<Product>('POST', '/v1/products', {
      name: 'Ring',
      type: 'SIMPLE_PRODUCT',
      sku: 'RING',
      stock: 3,
      price: { NGN: PRICE },
      cost: { NGN: 5 },
      category: { name: 'Jewels' },
      tags: ['Gold'],
    })
    const { body: order } = await api<{ id: string }>('POST', '/v1/orders', {
      currency: 'NGN',
      items: [{ sku: 'RING', quantity: 1 }],
    })
    const { port } = later.address() as { port: number }
    const args = [gateway, `http://127.0.0.1:${port}`, key, product.id, `Ring of ${name}`, order.id]
    expect(JSON.parse(await client(folder, args))).toEqual({ total: PRICE, status: 'ON_HOLD' })

    const { body: updated } = await api<Product>('GET', `/v1/products/${product.id}`)
    expect(updated).toEqual({ ...product, name: `Ring of ${name}`, updated_at: updated.updated_at })
    const { body: tagged } = await api<{ total: number }>('GET', '/v1/products?tag=Gold')
    expect(tagged.total).toBe(1)
    const [variant] = await stack.sql`select cost from catalog.variant where product_id = ${product.id}`
    expect(variant?.cost).toEqual({ NGN: 5 })
  },
  TOGETHER_MS,
)

/** What a user sends first after the import, as it is, and the statuses of the answers. */
const SENT = {
  'Create a product': 201,
  'List products': 200,
  'Update a product': 200,
  'Create a category': 201,
  'Create a customer': 201,
  'Create a collection': 201,
  'Create an order': 201,
  'Create a webhook endpoint': 201,
}

const importsThem = '%s imports requests that the API accepts as they are'
it.concurrent.each(Object.entries(IMPORTERS))(
  importsThem,
  async (_tool, importer) => {
    const requests = await importer(document)
    const { key } = await newWorkspace(stack.description())
    const operations = Object.values((JSON.parse(document) as { paths: Record<string, object> }).paths)
    expect(requests.length).toBe(operations.flatMap(Object.keys).length)
    let id = ''
    for (const [name, status] of Object.entries(SENT)) {
      const { method, url, body } = requests.find((one) => one.name === name) ?? expect.fail(`no ${name}`)
      expect(url).toMatch(new RegExp(`^${gateway}/v1/`))
      const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
      const answer = await fetch(url.replace(':id', id), { method, headers, ...(body && { body }) })
      const answered = (await answer.json()) as { id?: string }
      expect([name, answer.status, answered]).toEqual([name, status, expect.anything()])
      id ||= answered.id ?? ''
    }
  },
  TOGETHER_MS,
)
