import { afterEach, beforeEach, expect, it, vi } from 'vitest'

/** What the client has sent, by its key, and the answers that it gets. */
const sent: (string | null)[] = []
const answers: Response[] = []
const made = () => new Response('{ "id": "1" }', { status: 201 })
/** An answer whose body breaks off. */
const broken = () =>
  new Response(new ReadableStream({ start: (body) => body.error(new TypeError('terminated')) }), { status: 201 })

/** As in a browser, which knows where the page comes from. */
class PageRequest extends Request {
  constructor(input: Request | string, init?: RequestInit) {
    super(typeof input === 'string' ? new URL(input, 'https://shop.example') : input, init)
  }
}

beforeEach(() => {
  vi.resetModules()
  vi.stubGlobal('Request', PageRequest)
  vi.stubGlobal('fetch', async ({ headers }: Request) => {
    sent.push(headers.get('idempotency-key'))
    return answers.shift()
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  sent.length = 0
})

it('sends what an operator makes again under its former key until it has an answer', async () => {
  const { admin } = await import('./client.ts')
  const create = () => admin.POST('/admin/v1/workspaces', { body: { name: 'Shop' } })
  answers.push(new Response('{}', { status: 503 }), made(), made())
  for (let times = 0; times < 3; times++) await create()
  expect(sent).toEqual([expect.any(String), sent[0], expect.not.stringMatching(sent[0] ?? '')])
})

it('sends a write whose answer broke off again under its former key', async () => {
  const { api } = await import('./client.ts')
  const create = () => api.POST('/v1/customers', { body: { firstname: 'Ada' } })
  answers.push(broken(), made(), made())
  await expect(create()).rejects.toThrow(TypeError)
  await create()
  expect(sent[1]).toBe(sent[0])
  await create()
  expect(sent[2]).not.toBe(sent[0])
})
