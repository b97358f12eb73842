import { named } from '@backoffice/contracts/named.ts'
import { ROUTED_SERVICES, type RoutedService, SERVICES } from '@backoffice/contracts/services.ts'
import { openApiDocument } from '@backoffice/http/openapi.ts'
import { request } from 'undici'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { testGateway } from '../../testing/test-gateway.ts'
import type { TestUpstream } from '../../testing/test-upstream.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { mergedDocument } from './openapi.ts'

interface Document {
  readonly openapi: string
  readonly servers: unknown
  readonly externalDocs: unknown
  readonly components: unknown
  readonly paths: Record<string, Record<string, { tags: string[]; security: unknown }>>
}

const gateway = await testGateway()
const get = (path: string) => gateway.send<Document>(undefined, 'GET', path)

const documentOf = (path: string, answer: z.ZodType | null = null) =>
  openApiDocument([
    {
      operationId: `get ${path}`,
      method: 'GET',
      path,
      summary: 'Get it',
      scope: 'product::read',
      responses: { 200: answer },
    },
  ])

const declare = (upstream: TestUpstream, ...operation: Parameters<typeof documentOf>) => {
  const document = documentOf(...operation)
  upstream.answer = (_request, response) => void response.end(JSON.stringify(document))
}

/** One path of each service, in the services' order. */
const PATHS: Readonly<Record<RoutedService, string>> = {
  ...(Object.fromEntries(ROUTED_SERVICES.map((name) => [name, SERVICES[name].routes[0]])) as Record<
    RoutedService,
    string
  >),
  catalog: '/v1/products/{id}',
}
/** Those that the gateway answers itself. */
const OWN = ['/v1/me', '/v1/usage', '/v1/limits', '/v1/sandbox/reset']
const declareAll = ({ services }: typeof gateway) => {
  for (const name of ROUTED_SERVICES) declare(services[name], PATHS[name])
}

beforeEach(() => {
  gateway.passTime(60_000)
  declareAll(gateway)
})

describe('GET /openapi.json', () => {
  test('is one document of all services, and needs no key', async () => {
    const { status, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths)).toEqual([...Object.values(PATHS), ...OWN])
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/v1/products/{id}', '/v1/collections', '/v1/webhooks']),
    )
    expect(body.paths['/v1/products/{id}']?.get).toMatchObject({ tags: ['products'], security: [{ apiKey: [] }] })
    expect(body.components).toMatchObject({ securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } })
    expect(body.servers).toEqual([{ url: 'https://shop.example' }])
    expect(body.externalDocs).toEqual({ description: 'Guides', url: 'https://shop.example/docs/guides' })
  })

  test('asks the services once in ten seconds, however many ask', async () => {
    gateway.catalog.received.length = 0
    await Promise.all([get('/openapi.json'), get('/openapi.json'), get('/openapi.json')])
    expect(gateway.catalog.received.length).toBe(1)
    gateway.passTime(10_000)
    await get('/openapi.json')
    expect(gateway.catalog.received.length).toBe(2)
  })

  test('is made and compressed once for as long as it stays the same', async () => {
    let now = 0
    let path = '/v1/products'
    const json = async () => documentOf(path)
    const upstream = { name: 'catalog', send: async () => ({ statusCode: 200, body: { json } }) } as unknown as Upstream
    const document = mergedDocument([upstream], { own: [], server: '', clock: () => new Date(now) })
    const later = () => {
      now += 60_000
      return document()
    }
    const file = await later()
    expect(await later()).toBe(file)
    expect((await file.in('br'))[1]).toBe((await file.in('br'))[1])
    path = '/v1/tags'
    expect(await later()).not.toBe(file)
  })

  test('shows a service that hangs as it last was', async () => {
    let now = 0
    let isHanging = false
    const answer = { statusCode: 200, body: { json: async () => documentOf('/v1/products') } }
    const send = async ({ signal }: { readonly signal?: AbortSignal }) =>
      isHanging ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))) : answer
    const upstream = { name: 'catalog', send } as unknown as Upstream
    const clock = () => new Date(now)
    const document = mergedDocument([upstream], { own: [], server: '', clock, partWithinMs: 20 })
    const file = await document()
    now += 60_000
    isHanging = true
    expect(await document()).toBe(file)
  })

  test('shows a service that is away as it last was', async () => {
    await get('/openapi.json')
    gateway.passTime(10_000)
    gateway.catalog.answer = (_request, response) => void response.writeHead(503).end('{}')
    declare(gateway.webhooks, '/v1/webhooks/{id}')
    const { status, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(Object.keys(body.paths)).toEqual([
      ...Object.values({ ...PATHS, 'webhook-delivery': '/v1/webhooks/{id}' }),
      ...OWN,
    ])
  })

  test('is service_unavailable while two services describe one schema differently, as during a deploy', async () => {
    const thing = (shape: z.ZodRawShape) => named('Thing', z.strictObject(shape))
    declare(gateway.catalog, PATHS.catalog, thing({ id: z.string() }))
    declare(gateway.webhooks, PATHS['webhook-delivery'], thing({ id: z.string(), name: z.string() }))
    const refused = { status: 503, body: { error: { code: 'service_unavailable' } } }
    gateway.catalog.received.length = 0
    for (const _ of [1, 2, 3]) expect(await get('/openapi.json')).toMatchObject(refused)
    expect(gateway.catalog.received.length, 'it is not made anew for each request').toBe(1)
    gateway.passTime(3_000)
    declare(gateway.webhooks, PATHS['webhook-delivery'], thing({ id: z.string() }))
    const { status, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(body.components).toMatchObject({ schemas: { Thing: { required: ['id'] } } })
  })

  test('is service_unavailable while a service has never told its part, and then whole', async () => {
    const fresh = await testGateway()
    declareAll(fresh)
    fresh.webhooks.answer = (_request, response) => void response.writeHead(500).end('{}')
    const refused = await fresh.send(undefined, 'GET', '/openapi.json')
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    declare(fresh.webhooks, '/v1/webhooks')
    fresh.passTime(3_000)
    expect((await fresh.send(undefined, 'GET', '/openapi.json')).status).toBe(200)
  })
})

describe('GET /docs', () => {
  test('is a page all of whose parts come from here', async () => {
    const page = await request(`${gateway.url}/docs`)
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.headers['content-security-policy']).not.toMatch(/https?:|\*/)
    expect(page.headers['content-security-policy']).toMatch(/base-uri 'none'.*frame-ancestors 'none'/)
    expect(page.headers['x-content-type-options']).toBe('nosniff')
    const parts = [...(await page.body.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => String(url))
    expect(parts).toEqual(['data:,', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/start.js'])
    for (const part of parts.slice(1)) {
      const { statusCode, headers, body } = await request(gateway.url + part)
      expect([part, statusCode, headers['x-content-type-options']]).toEqual([part, 200, 'nosniff'])
      expect(headers['content-type']).toMatch(part.endsWith('.css') ? /^text\/css/ : /^text\/javascript/)
      expect((await body.text()).length).toBeGreaterThan(50)
    }
  })

  test('serves no other file', async () => {
    for (const path of ['/docs/index.html', '/docs/..%2fpackage.json', '/docs/../package.json']) {
      expect([path, (await gateway.send(undefined, 'GET', path)).status]).toEqual([path, 404])
    }
  })
})
