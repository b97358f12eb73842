import { readFileSync } from 'node:fs'
import { openPoints } from '@backoffice/testing/open-points.ts'
import { expect, it } from 'vitest'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

type Entry = Record<string, unknown> & { 'x-open-point'?: string | string[]; 'x-extension'?: boolean }

interface Document {
  readonly info: { readonly 'x-open-point': readonly string[] }
  readonly paths: Record<string, Record<string, Entry>>
  readonly components: { readonly schemas: Record<string, { readonly examples?: readonly unknown[] }> }
}

const docs = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8')
const stack = await sharedStack()
const { gateway } = stack.description()
const document = (await (await fetch(`${gateway}/openapi.json`)).json()) as Document
const { info, paths, components } = document
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, entry]) => ({ name: `${method.toUpperCase()} ${path}`, entry })),
)

it('lists the operations of every service', () => {
  expect(operations.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['POST /v1/products', 'GET /v1/products/{id}', 'POST /v1/webhooks']),
  )
})

it('names only open points that docs/open-points.md decides', () => {
  const named = operations.flatMap(({ entry }) => [entry['x-open-point'] ?? []].flat())
  expect(named.length).toBeGreaterThan(0)
  expect([...named, ...info['x-open-point']].filter((id) => !openPoints.has(id))).toEqual([])
})

it('names each status that an operation can answer with, and no range of them', () => {
  for (const { name, entry } of operations) {
    const statuses = Object.keys(entry.responses as object)
    expect([name, statuses]).toEqual([name, expect.arrayContaining(['400', '401', '403', '429', '500', '503', '504'])])
    expect([name, statuses.filter((status) => !/^\d{3}$/.test(status))]).toEqual([name, []])
  }
})

it('answers each other method on the path of an operation with 405 and those that it takes (OP-02)', async () => {
  const { api } = await newWorkspace(stack.description())
  for (const [path, methods] of Object.entries(paths)) {
    const taken = Object.keys(methods).map((method) => method.toUpperCase())
    const url = path.replaceAll(/\{\w+\}/g, '0198c7a0-0000-7000-8000-000000000001')
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (other) => !taken.includes(other),
    )) {
      const { status, headers } = await api(method, url)
      const allowed = headers.get('allow')?.split(', ').sort()
      const headToo = taken.includes('GET') ? ['HEAD'] : []
      expect([method, path, status, allowed]).toEqual([method, path, 405, [...taken, ...headToo].sort()])
    }
  }
})

/** `PUT`/`DELETE /v1/tags/{id}` as two operations. */
const operationsIn = (text: string): string[] =>
  [
    ...text
      .replaceAll('`', '')
      .matchAll(/((?:GET|POST|PUT|DELETE)(?:[,/](?:POST|PUT|DELETE))*) (\/v1\/[\w/{}-]+(?:\.csv)?)/g),
  ].flatMap(([, methods = '', path]) => methods.split(/[,/]/).map((method) => `${method} ${path}`))

it('marks each extension with an open point that names its path', () => {
  for (const { name, entry } of operations.filter(({ entry }) => entry['x-extension'])) {
    const named = [entry['x-open-point'] ?? []].flat().flatMap((id) => operationsIn(openPoints.get(id) ?? ''))
    expect([name, named.map((one) => one.split(' ')[1])]).toEqual([name, expect.arrayContaining([name.split(' ')[1]])])
  }
})

it('has every operation on products, categories, tags and assets that the documents name', () => {
  const named = ['open-points.md', 'api-specification.md'].flatMap((file) =>
    operationsIn(docs(file).replaceAll(/\| (GET|POST|PUT|DELETE) \| (?=\/v1)/g, '$1 ')),
  )
  const ours = named.filter((name) => /\/v1\/(products|categories|tags|assets)/.test(name))
  expect(ours.length).toBeGreaterThan(10)
  expect(operations.map(({ name }) => name)).toEqual(expect.arrayContaining(ours))
})

it('marks as extensions exactly the operations that the specification does not describe', () => {
  const rows = docs('api-specification.md').matchAll(/^\| (GET|POST|PUT|DELETE) \| (\/v1\/\S+) \|/gm)
  const described = new Set([...rows].map(([, method, path]) => `${method} ${path}`))
  for (const { name, entry } of operations) {
    expect([name, entry['x-extension'] ?? false]).toEqual([name, !described.has(name)])
  }
})

const exampleOf = (name: string) => components.schemas[name]?.examples?.[0] ?? expect.fail(`${name} has none`)

it('shows examples of requests that the API accepts as they are', async () => {
  const { api } = await newWorkspace(stack.description())
  const create = async (path: string, name: string) => {
    const { status, body } = await api<{ id: string }>('POST', path, exampleOf(name))
    expect([name, status, body]).toEqual([name, 201, expect.anything()])
    return body.id
  }
  const product = await create('/v1/products', 'ProductInput')
  const customer = await create('/v1/customers', 'CustomerInput')
  const collection = await create('/v1/collections', 'CollectionInput')
  const order = await create('/v1/orders', 'OrderInput')
  await create('/v1/categories', 'CategoryInput')
  await create(`/v1/orders/${order}/payments`, 'PaymentInput')
  for (const [path, name] of [
    [`/v1/products/${product}`, 'ProductUpdate'],
    [`/v1/customers/${customer}`, 'CustomerUpdate'],
    [`/v1/collections/${collection}`, 'CollectionUpdate'],
    [`/v1/orders/${order}`, 'OrderUpdate'],
  ] as const) {
    expect([name, (await api('PUT', path, exampleOf(name))).status]).toEqual([name, 200])
  }
  const batches = [
    ['/v1/products/batch', 'ProductBatch', 'created'],
    ['/v1/stock/batch', 'StockBatch', 'unchanged'],
    ['/v1/customers/batch', 'CustomerBatch', 'unchanged'],
  ] as const
  for (const [path, name, outcome] of batches) {
    const { status, body } = await api<{ results: unknown }>('POST', path, exampleOf(name))
    expect([status, body.results]).toMatchObject([200, [{ status: outcome, error: null }]])
  }
})
