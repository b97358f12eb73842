import { randomUUID } from 'node:crypto'
import type { Category } from '@backoffice/contracts/product.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import type { Refusal } from './testing/api.ts'
import { sampleOf } from './testing/schema-sample.ts'
import { sharedStack } from './testing/stack.ts'
import { RETRY_DELAYS } from './testing/stack-process.ts'
import { type Endpoint, subscribedAt } from './testing/subscriber.ts'
import { isGenuine } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const receiver = await startReceiver()
const subscribed = () => subscribedAt(receiver, stack.description())

describe('a delivery whose receiver always answers 500', async () => {
  const { api, url, endpoint, path, requests, change, delivery } = await subscribed()
  receiver.answerWith((response) => response.writeHead(500, { 'x-answer': 'no' }).end(`answer ${requests().length}`))
  const category = await change<Category>('POST', '/v1/categories', { name: 'Cups' })
  const failed = await delivery('FAILED')
  const sent = [...requests()]
  const body = sent[0]?.body ?? Buffer.alloc(0)

  it('Retries 2: is FAILED after six attempts', () => {
    expect(sent).toHaveLength(6)
    expect(failed).toEqual({
      id: failed.id,
      event_id: JSON.parse(body.toString()).id,
      event_type: 'category.created',
      status: 'FAILED',
      attempts_made: 6,
      next_attempt_at: null,
      created_at: expect.any(String),
      delivered_at: null,
      attempts: expect.any(Array),
    })
  })

  it('Retries 2: is attempted never before the delay is over that follows the end of the attempt before (OP-65)', () => {
    const ends = failed.attempts.map(({ at, duration_ms }) => Date.parse(at) + duration_ms)
    const waits = failed.attempts.slice(1).map(({ at }, index) => Date.parse(at) - (ends[index] ?? 0))
    expect(waits.filter((wait, index) => wait < (RETRY_DELAYS[index + 1] ?? 0))).toEqual([])
    expect(waits).toHaveLength(5)
  })

  it('Retries 3: comes with the same event id and the same bytes each time', () => {
    for (const request of sent) {
      expect(request.headers['webhook-id']).toBe(failed.event_id)
      expect(request.body).toEqual(body)
    }
    expect(JSON.parse(body.toString())).toMatchObject({ type: 'category.created', livemode: true, data: category })
  })

  it('Delivery headers: is signed anew for each attempt, at the Unix second of the attempt, over the raw body', () => {
    for (const [index, request] of sent.entries()) {
      const signedAt = Math.floor(Date.parse(failed.attempts[index]?.at ?? '') / 1000)
      expect(request.headers['webhook-timestamp']).toBe(String(signedAt))
      expect(request.headers['webhook-signature']).toMatch(/^v1,[0-9a-f]{64}$/)
      expect(isGenuine(request, endpoint.secret)).toBe(true)
      expect(isGenuine({ ...request, body: Buffer.from(`${request.body} `) }, endpoint.secret)).toBe(false)
    }
  })

  it('Webhooks 4: can be inspected with the request and response bodies of each attempt', () => {
    const attempts = sent.map(({ headers }, index) => ({
      number: index + 1,
      at: expect.any(String),
      duration_ms: expect.any(Number),
      request: {
        url,
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': headers['user-agent'],
          'Webhook-Id': headers['webhook-id'],
          'Webhook-Timestamp': headers['webhook-timestamp'],
          'Webhook-Signature': headers['webhook-signature'],
        },
        body: body.toString(),
        truncated: false,
      },
      response: {
        status: 500,
        headers: expect.objectContaining({ 'x-answer': 'no' }),
        body: `answer ${index + 1}`,
        truncated: false,
      },
      error: { class: 'status', message: 'answered 500' },
    }))
    expect(failed.attempts).toEqual(attempts)
  })

  it('Webhooks 4: can be re-sent, which makes it DELIVERED when it succeeds', async () => {
    receiver.answerWith((response) => response.writeHead(204).end())
    const resent = await api('POST', `${path}/deliveries/${failed.id}/resend`)
    expect([resent.status, resent.body]).toMatchObject([202, { id: failed.id, status: 'FAILED' }])
    expect(await delivery('DELIVERED')).toMatchObject({ id: failed.id, attempts_made: 7 })
    const again = requests()[6] ?? expect.fail('nothing arrived')
    expect([again.headers['webhook-id'], again.body]).toEqual([failed.event_id, body])
    expect(isGenuine(again, endpoint.secret)).toBe(true)
  })
})

describe('every operation on webhooks', async () => {
  const document = (await (await fetch(`${stack.description().gateway}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { requestBody?: { content: { 'application/json': { schema: object } } } }>>
  }
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/webhooks'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const))
  const bodyOf = (method: string, path: string) => {
    if (path === '/v1/webhooks' && method === 'POST') return { url: receiver.url, enabled_events: ['*'] }
    if (path === '/v1/webhooks/{id}' && method === 'PUT') return { description: 'Mine' }
    const body = document.paths[path]?.[method.toLowerCase()]?.requestBody
    return body && sampleOf(body.content['application/json'].schema, document)
  }
  /** The method decides the action of a scope (OP-04). */
  const scopes: Record<string, string> = {
    GET: 'webhook::read',
    POST: 'webhook::create',
    PUT: 'webhook::update',
    DELETE: 'webhook::delete',
  }

  it('is here', () => expect(operations.length).toBeGreaterThanOrEqual(18))

  it.each(operations)('Authentication 4: %s %s needs the webhook permission, or full access', async (method, path) => {
    const filled = path.replaceAll(/\{\w+\}/g, randomUUID())
    const statusWith = async (...granted: string[]) => {
      const { api } = await newWorkspace(stack.description(), granted)
      const { status, body } = await api<Refusal | undefined>(method, filled, bodyOf(method, path))
      return status === 403 ? body?.error.message : status
    }
    const needed = scopes[method] ?? ''
    const others = Object.values(scopes).filter((scope) => scope !== needed)
    expect(await statusWith('product', 'sale', 'customer', 'import', 'app', ...others)).toBe(
      `API key lacks required scope: ${needed}`,
    )
    const allowed = path.includes('{') ? [404] : [200, 201]
    for (const granted of [needed, 'webhook', '*']) expect(allowed).toContain(await statusWith(granted))
  })

  it.each(operations.filter(([, path]) => path.includes('{')))(
    'Authentication 2: %s %s does not know another workspace’s endpoint or delivery',
    async (method, path) => {
      const theirs = await subscribed()
      await theirs.change('POST', `${theirs.path}/ping`)
      const { id } = await theirs.delivery('DELIVERED')
      const filled = path.replace('{id}', theirs.endpoint.id).replace('{delivery_id}', id)
      const { api } = await newWorkspace(stack.description())
      const { status, body } = await api(method, filled, bodyOf(method, path))
      expect([status, body.error.code]).toEqual([404, 'not_found'])
      expect((await api<{ total: number }>('GET', '/v1/webhooks')).body.total).toBe(0)
      expect((await theirs.change<Endpoint & { description: null }>('GET', theirs.path)).description).toBeNull()
      expect(theirs.requests()).toHaveLength(1)
    },
  )
})
