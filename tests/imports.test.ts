import type { Import } from '@backoffice/contracts/import.ts'
import type { ImportTemplate } from '@backoffice/contracts/import-templates.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { apiWith } from './testing/api.ts'
import { importsOf, productRows } from './testing/imports.ts'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { eventOf, isGenuine } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const receiver = await startReceiver()

it('a file goes from the template to the shop, and one webhook tells of it (OP-50, OP-72)', async () => {
  const workspace = await newWorkspace(stack.description())
  const { api } = workspace
  const { upload, atRest, start, report, authorization } = importsOf(stack, workspace)
  const { body: endpoint } = await api<{ secret: string }>('POST', '/v1/webhooks', {
    url: receiver.url,
    enabled_events: ['*'],
  })
  const { body: catalogue } = await api<{ templates: ImportTemplate[] }>('GET', '/v1/imports/templates')
  const header = catalogue.templates.find(({ key }) => key === 'products')?.header ?? []
  const rows = Array.from({ length: 1100 }, (_, n) =>
    header.map((name) => ({ sku: `SKU-${n}`, name: `Mug ${n}`, stock: '3' })[name] ?? '').join(','),
  )
  const uploaded = await upload('products', [header.join(','), ...rows].join('\n'))
  expect(uploaded).toMatchObject({ status: 202, body: { status: 'UPLOADED', template: 'products', file: 'rows.csv' } })
  const { id } = uploaded.body
  expect(await atRest(id)).toMatchObject({ status: 'VALIDATED', total_rows: 1100 })
  expect((await report(id)).summary).toMatchObject({ valid_rows: 1100, invalid_rows: 0, errors: [] })

  const stream = await fetch(new URL(`/v1/imports/${id}/progress`, stack.description().gateway), {
    headers: authorization,
  })
  expect((await start(id)).status).toBe(202)
  const events = await stream.text()
  expect(events).toMatch(/event: progress\n[\s\S]*event: end\ndata: .*"status":"COMPLETED".*"processed_rows":1100/)

  const completed = await eventually('import.completed arrives', () => receiver.requests[0])
  expect(isGenuine(completed, endpoint.secret)).toBe(true)
  const summary = { total_rows: 1100, valid_rows: 1100, invalid_rows: 0, created: 1100, updated: 0, failed: 0 }
  expect(eventOf(completed)).toMatchObject({ type: 'import.completed', livemode: true })
  expect(eventOf(completed).data).toEqual({ id, template: 'products', status: 'COMPLETED', summary })
  const { body: product } = await api<{ id: string }>('POST', '/v1/products', aProduct())
  await eventually('the event of a later change arrives', () => receiver.requests.length > 1)
  const told = receiver.requests.map((request) => [eventOf(request).type, eventOf(request).data.id])
  expect(told).toEqual([
    ['import.completed', id],
    ['product.created', product.id],
  ])
  expect((await api<{ total: number }>('GET', '/v1/products')).body.total).toBe(1101)
})

it('a file of 20 MB comes through the gateway, and its batches through Kafka', async () => {
  const workspace = await newWorkspace(stack.description())
  const { upload, atRest, start, until } = importsOf(stack, workspace)
  const description = 'Ä'.repeat(5000)
  const rows = Array.from({ length: 2000 }, (_, n) => `SKU-${n},Mug ${n},1,${description}`)
  const content = ['sku,name,stock,description', ...rows].join('\n')
  expect(Buffer.byteLength(content)).toBeGreaterThan(20_000_000)
  const { status, body } = await upload('products', content)
  expect(status).toBe(202)
  expect(await atRest(body.id)).toMatchObject({ status: 'VALIDATED', total_rows: 2000 })
  await start(body.id)
  await until(body.id, 'is applied in part', ({ processed_rows: rows }) => rows > 0)
  await workspace.api('POST', `/v1/imports/${body.id}/cancel`)
  const product = await workspace.api<{ items: { description: string }[] }>('GET', '/v1/products?limit=1')
  expect(product.body.items[0]?.description).toBe(description)
})

it('another workspace finds neither an import nor anything of it', async () => {
  const [own, other] = await Promise.all([newWorkspace(stack.description()), newWorkspace(stack.description())])
  const { upload, atRest } = importsOf(stack, own)
  const { id } = (await upload('products', productRows(2))).body
  await atRest(id)
  const paths = ['', '/errors', '/errors.csv', '/corrected.csv', '/diff', '/progress']
  const requests = [...paths.map((path) => ['GET', path]), ['POST', '/start'], ['POST', '/cancel']] as const
  for (const [method, path] of requests) {
    const { status, body } = await other.api(method ?? '', `/v1/imports/${id}${path}`)
    expect([path, status, body.error.code]).toEqual([path, 404, 'not_found'])
  }
  expect((await other.api<{ items: Import[] }>('GET', '/v1/imports')).body.items).toEqual([])
})

it('reading and starting need scopes of their own', async () => {
  const [reading, creating] = await Promise.all(
    [['import::read'], ['import::create']].map((scopes) => newWorkspace(stack.description(), scopes)),
  )
  if (reading === undefined || creating === undefined) throw new Error('no workspace')
  const refused = { status: 403, body: { error: { code: 'insufficient_scope' } } }
  expect(await importsOf(stack, reading).upload('products', productRows(1))).toMatchObject(refused)
  const { status, body } = await importsOf(stack, creating).upload('products', productRows(1))
  expect(status).toBe(202)
  for (const path of ['', '/errors', '/errors.csv', '/corrected.csv', '/diff', '/progress']) {
    expect(await creating.api('GET', `/v1/imports/${body.id}${path}`)).toMatchObject(refused)
  }
  for (const path of ['/start', '/cancel']) {
    expect(await reading.api('POST', `/v1/imports/${body.id}${path}`)).toMatchObject(refused)
  }
  expect((await reading.api('GET', '/v1/imports/templates')).status).toBe(200)
  const nobody = apiWith(stack.description().gateway, undefined)
  expect((await nobody('GET', '/v1/imports')).status).toBe(401)
})
