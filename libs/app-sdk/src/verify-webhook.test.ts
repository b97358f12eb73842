import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MAX_WEBHOOK_BYTES, verifyWebhook, verifyWebhookOfAny } from './verify-webhook.ts'

/** The vector of OP-62. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'v1,83484cf52b04f8e4cf2531adfed9882ad4b2665137b852442d594d20e2c9d4e1',
}
const NOW = Number(VECTOR.timestamp) * 1000
const at = (now: number) => vi.useFakeTimers({ now, toFake: ['Date'] })
beforeEach(() => void at(NOW))
afterEach(() => void vi.useRealTimers())

const rawBody = Buffer.from(VECTOR.body)
const headers = {
  'webhook-id': VECTOR.id,
  'webhook-timestamp': VECTOR.timestamp,
  'webhook-signature': VECTOR.signature,
}
const installation = { workspaceId: 'ours', webhookSecret: VECTOR.secret }

it('accepts the vector of OP-62 up to 300 seconds before and after', () => {
  for (const now of [NOW, NOW - 300_000, NOW + 300_000]) {
    at(now)
    expect(verifyWebhook({ headers, rawBody }, installation)).toEqual({ test: 2432232314 })
  }
})

it('accepts the text of the body, whose bytes are signed', () => {
  const body = '{"name":"Größe ½ 👕"}'
  const key = Buffer.from(VECTOR.secret.slice('whsec_'.length), 'base64')
  const digest = createHmac('sha256', key).update(`${VECTOR.id}.${VECTOR.timestamp}.${body}`).digest('hex')
  const given = { ...headers, 'webhook-signature': `v1,${digest}` }
  expect(verifyWebhook({ headers: given, rawBody: body }, installation)).toEqual(JSON.parse(body))
  const large = { headers: given, rawBody: '½'.repeat(MAX_WEBHOOK_BYTES / 2 + 1) }
  expect(() => verifyWebhook(large, installation)).toThrow('larger than 8388608 bytes')
})

it('returns the installation whose secret has signed, where the URL does not tell', async () => {
  const others = [
    { workspaceId: 'no webhooks' },
    { workspaceId: 'another', webhookSecret: `whsec_${randomBytes(32).toString('base64')}` },
  ]
  const found = await verifyWebhookOfAny({ headers, rawBody }, [...others, installation])
  expect([found.installation, found.event]).toEqual([installation, { test: 2432232314 }])
  await expect(verifyWebhookOfAny({ headers, rawBody }, others)).rejects.toThrow('no signature')
})

it('takes the installations from a function, which it calls for a request that may be genuine only', async () => {
  const all = vi.fn(async () => [installation])
  expect((await verifyWebhookOfAny({ headers, rawBody }, all)).installation).toBe(installation)
  const old = { ...headers, 'webhook-timestamp': '1' }
  await expect(verifyWebhookOfAny({ headers: old, rawBody }, all)).rejects.toThrow('Webhook-Timestamp')
  expect(all).toHaveBeenCalledTimes(1)
})

it('accepts one of several signatures while a secret is replaced (OP-63)', () => {
  const newer = createHmac('sha256', 'another').update('x').digest('hex')
  for (const signatures of [`v1,${newer} ${VECTOR.signature}`, `${VECTOR.signature} v1,${newer} v2,unknown`]) {
    const given = { ...headers, 'webhook-signature': signatures }
    expect(verifyWebhook({ headers: given, rawBody }, installation)).toBeDefined()
  }
})

const standard = new Webhook(VECTOR.secret).sign(VECTOR.id, new Date(NOW), VECTOR.body)
const standardOfAnother = new Webhook('whsec_AAAA').sign(VECTOR.id, new Date(NOW), VECTOR.body)

it('accepts what a library of Standard Webhooks has signed, alone, beside ours, and as one of several', () => {
  const ofAnother = `v1,${'00'.repeat(32)}`
  for (const signatures of [standard, `${ofAnother} ${standard}`, `${standardOfAnother} ${standard}`]) {
    const given = { ...headers, 'webhook-signature': signatures }
    expect(verifyWebhook({ headers: given, rawBody }, installation)).toEqual({ test: 2432232314 })
  }
})

it('refuses what another secret has signed in the standard form, another body, and the empty secret', () => {
  const given = { ...headers, 'webhook-signature': standardOfAnother }
  expect(() => verifyWebhook({ headers: given, rawBody }, installation)).toThrow('no signature')
  const changed = { headers: { ...headers, 'webhook-signature': standard }, rawBody: Buffer.from('{"test":2}') }
  expect(() => verifyWebhook(changed, installation)).toThrow('no signature')
  expect(() => verifyWebhook({ headers: given, rawBody }, { webhookSecret: 'whsec_' })).toThrow('no signature')
})

it.each<[string, Record<string, string | undefined>, string, string, number]>([
  ['other bytes of the body', {}, '{"test":2432232314}', VECTOR.secret, NOW],
  ['another id', { 'webhook-id': 'msg_other' }, VECTOR.body, VECTOR.secret, NOW],
  ['another timestamp', { 'webhook-timestamp': '1614265331' }, VECTOR.body, VECTOR.secret, NOW],
  ['no timestamp', { 'webhook-timestamp': undefined }, VECTOR.body, VECTOR.secret, NOW],
  ['a timestamp that is no number', { 'webhook-timestamp': '1e9' }, VECTOR.body, VECTOR.secret, 1e12],
  ['no signature', { 'webhook-signature': undefined }, VECTOR.body, VECTOR.secret, NOW],
  ['a timestamp that is too old', {}, VECTOR.body, VECTOR.secret, NOW + 301_000],
  ['a timestamp that lies ahead', {}, VECTOR.body, VECTOR.secret, NOW - 301_000],
  ['another secret', {}, VECTOR.body, `whsec_${randomBytes(32).toString('base64')}`, NOW],
])('refuses %s', (_, differences, body, webhookSecret, now) => {
  const request = { headers: { ...headers, ...differences }, rawBody: Buffer.from(body) }
  at(now)
  expect(() => verifyWebhook(request, { webhookSecret })).toThrow(expect.objectContaining({ name: 'WebhookRefused' }))
})

it('refuses a signature by the empty secret', () => {
  const digest = createHmac('sha256', '').update(`${VECTOR.id}.${VECTOR.timestamp}.${VECTOR.body}`).digest('hex')
  const request = { headers: { ...headers, 'webhook-signature': `v1,${digest}` }, rawBody }
  for (const webhookSecret of ['', 'whsec_', undefined]) {
    expect(() => verifyWebhook(request, { webhookSecret })).toThrow('no signature')
  }
})

it('refuses a workspace without installation', () => {
  expect(() => verifyWebhook({ headers, rawBody }, undefined)).toThrow('no signature')
})

it.each<[string, Record<string, string | undefined>, Uint8Array, string]>([
  ['a body that is too large', {}, Buffer.alloc(MAX_WEBHOOK_BYTES + 1), 'larger than 8388608 bytes'],
  ['a timestamp that is too old', { 'webhook-timestamp': '1' }, rawBody, 'Webhook-Timestamp'],
  ['no signature of the form', { 'webhook-signature': 'v1,00 v2,x' }, rawBody, 'no signature'],
])('refuses %s before it takes a secret to sign with', async (_, differences, body, reason) => {
  let taken = 0
  const counting = {
    get webhookSecret() {
      taken++
      return VECTOR.secret
    },
  }
  const request = { headers: { ...headers, ...differences }, rawBody: body }
  expect(() => verifyWebhook(request, counting)).toThrow(reason)
  await expect(verifyWebhookOfAny(request, [counting])).rejects.toThrow(reason)
  expect(taken).toBe(0)
})

it('lets other work run between the secrets of a shared URL', async () => {
  const others = Array.from({ length: 20 }, () => ({ webhookSecret: `whsec_${randomBytes(32).toString('base64')}` }))
  let runs = 0
  const other = setInterval(() => runs++, 0)
  const body = Buffer.alloc(1024 * 1024)
  await expect(verifyWebhookOfAny({ headers, rawBody: body }, others)).rejects.toThrow('no signature')
  clearInterval(other)
  expect(runs).toBeGreaterThan(5)
})
