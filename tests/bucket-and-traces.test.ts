import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { startS3Server } from '@backoffice/testing/servers/s3-server.ts'
import { type ReceivedSpan, startTraceReceiver } from '@backoffice/testing/trace-receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { PIXEL, upload, uploadRefused } from './testing/files.ts'
import { aProduct } from './testing/products.ts'
import { startStack } from './testing/stack.ts'
import { eventOf } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-s3-'))
const bucket = join(directory, 'buckets', 'assets')
mkdirSync(bucket, { recursive: true })
whenDone(() => rmSync(directory, { recursive: true }))
const [s3, traces, receiver] = await Promise.all([startS3Server({ directory }), startTraceReceiver(), startReceiver()])
whenDone(() => s3.stop())
// One stack for both servers: each stack takes half a minute.
const stack = await startStack({
  S3_ENDPOINT: s3.url,
  S3_BUCKET: 'assets',
  AWS_ACCESS_KEY_ID: s3.accessKey,
  AWS_SECRET_ACCESS_KEY: s3.secretKey,
  OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '1',
  OTEL_RESOURCE_ATTRIBUTES: 'service.version=7',
})
const { gateway } = stack.description()
const { id: workspaceId, key, api } = await newWorkspace(stack.description())

describe('assets in a bucket', () => {
  const authorization = { authorization: `Bearer ${key}` }
  const objects = () =>
    readdirSync(bucket, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

  it('keeps an image and its thumbnail in the bucket, and serves them from there', async () => {
    const { status, body: asset } = await upload(gateway, authorization, PIXEL)
    expect([status, objects()]).toEqual([201, 2])
    const image = await fetch(asset.url)
    expect([image.status, image.headers.get('content-type'), (await image.bytes()).length]).toEqual([
      200,
      'image/png',
      asset.size,
    ])
    const thumbnail = await fetch(asset.thumbnail ?? '', { method: 'HEAD' })
    expect([thumbnail.status, Number(thumbnail.headers.get('content-length')) > 0]).toEqual([200, true])
    expect((await fetch(asset.url.replace('.png', '.gif'))).status).toBe(404)
  })

  it('serves the parts of a file that are asked for, whatever its size', async () => {
    const content = Buffer.alloc(20 * 1024 * 1024, '0123456789')
    const { body: asset } = await upload(gateway, authorization, new Uint8Array(content), 'a.bin')
    const part = await fetch(asset.url, { headers: { range: 'bytes=10000000-10000003' } })
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      '0123',
      `bytes 10000000-10000003/${content.length}`,
    ])
    expect(Buffer.from(await (await fetch(asset.url)).bytes()).equals(content)).toBe(true)
  })

  it('keeps nothing of an upload that is sent again under its key', async () => {
    const headers = { ...authorization, 'idempotency-key': 'once' }
    const before = objects()
    const [first, second] = [await upload(gateway, headers, PIXEL), await upload(gateway, headers, PIXEL)]
    expect([second.status, second.body]).toEqual([201, first.body])
    expect(objects()).toBe(before + 2)
  })

  it('is service_unavailable while the bucket cannot be reached, no row is written, and it comes back', async () => {
    const { body: asset } = await upload(gateway, authorization, PIXEL)
    const rows = () => stack.sql`select id from catalog.asset where workspace_id = ${workspaceId}`
    const before = await rows()
    await s3.kill()
    const refused = await uploadRefused(gateway, authorization, PIXEL)
    expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable'])
    const read = await fetch(asset.url)
    expect([read.status, read.headers.get('cache-control')]).toEqual([503, null])
    expect(await rows()).toEqual(before)
    await s3.start()
    expect((await fetch(asset.url)).status).toBe(200)
    expect((await upload(gateway, authorization, PIXEL)).status).toBe(201)
  })
})

describe('traces', async () => {
  await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['product.created'] })

  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
  const CLIENT_SPAN = '00f067aa0ba902b7'
  /** The kind of a span, in OTLP. */
  const SERVER = 2

  /** The span of a service with this name that fits. */
  const find = (service: string, name: string | RegExp, fits: (span: ReceivedSpan) => boolean) => {
    const isNamed = (span: ReceivedSpan) => (typeof name === 'string' ? span.name === name : name.test(span.name))
    return eventually(`the span ${name} of ${service}`, () =>
      traces.spans().find((span) => span.resource['service.name'] === service && isNamed(span) && fits(span)),
    )
  }
  const isBelow = (parent: ReceivedSpan) => (span: ReceivedSpan) =>
    span.traceId === parent.traceId && span.parentSpanId === parent.spanId
  const isLinkedTo = (cause: ReceivedSpan) => (span: ReceivedSpan) =>
    span.traceId !== cause.traceId && span.links.some(({ spanId }) => spanId === cause.spanId)
  const arrivalOf = (product: Product) =>
    eventually('the webhook', () => receiver.requests.find((request) => eventOf(request).data.id === product.id))
  it('one request can be followed from the gateway to the last attempt', async () => {
    const headers = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-00`, tracestate: 'vendor=1' }
    const { body: product } = await api<Product>('POST', '/v1/products', aProduct({ name: 'Not for traces' }), headers)
    const arrival = await arrivalOf(product)

    const request = await find('gateway', /^POST /, ({ traceId, kind }) => traceId === TRACE && kind === SERVER)
    expect(request).toMatchObject({ parentSpanId: CLIENT_SPAN, resource: { 'service.version': '7' } })
    const call = await find('gateway', 'POST catalog', isBelow(request))
    const create = await find('catalog', 'POST /v1/products', isBelow(call))
    await find('catalog', 'catalog transaction', isBelow(create))

    const state = await find('catalog', 'send catalog.products', isBelow(create))
    await find('collections', 'process catalog.products', isLinkedTo(state))
    const event = await find(
      'catalog',
      'send catalog.events',
      (span) => isBelow(create)(span) && span.attributes['backoffice.record_type'] === 'product.created',
    )
    const fanOut = await find('webhook-delivery', 'process catalog.events', isLinkedTo(event))
    await find('webhook-delivery', 'webhook-delivery worker transaction', isBelow(fanOut))
    const attempt = await find('webhook-delivery', 'webhook attempt', isLinkedTo(event))
    expect(attempt.attributes).toMatchObject({
      'backoffice.event_id': eventOf(arrival).id,
      'backoffice.attempt': 1,
      'http.response.status_code': 204,
    })

    expect(arrival.headers).not.toHaveProperty('traceparent')
    const sent = JSON.stringify(traces.spans())
    expect(sent).not.toContain('Not for traces')
    expect(sent).not.toContain(receiver.url)
    expect(sent).not.toContain('sk_live')
  })

  it('a retry links to the event’s trace as well, from what the database has', async () => {
    receiver.answerWith((response) => response.writeHead(500).end())
    const { body: product } = await api<Product>('POST', '/v1/products', aProduct())
    const { headers } = await arrivalOf(product)
    const first = await find(
      'webhook-delivery',
      'webhook attempt',
      ({ attributes }) => attributes['backoffice.event_id'] === headers['webhook-id'],
    )
    expect(first).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'status' } })
    receiver.answerWith((response) => response.writeHead(204).end())
    const deliveryId = first.attributes['backoffice.delivery_id']
    const endpointId = first.attributes['backoffice.endpoint_id']
    const resent = await api('POST', `/v1/webhooks/${endpointId}/deliveries/${deliveryId}/resend`, {})
    expect(resent.status).toBe(202)
    const second = await find(
      'webhook-delivery',
      'webhook attempt',
      ({ attributes }) => attributes['backoffice.delivery_id'] === deliveryId && attributes['backoffice.attempt'] === 2,
    )
    expect(second.links).toEqual(first.links)
    expect(second.traceId).not.toBe(first.traceId)
  })

  it('a receiver of traces that hangs does not delay requests, events or attempts', async () => {
    traces.answerWith(() => undefined)
    const before = traces.requests.length
    const { body: product } = await api<Product>('POST', '/v1/products', aProduct())
    await eventually('a service sends spans', () => traces.requests.length > before)
    await arrivalOf(product)
  })
})
