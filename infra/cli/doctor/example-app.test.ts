import { createHmac, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encryptedKeyStore } from '@backoffice/app-sdk'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { paymentApp } from '../../../examples/app/src/app.ts'
import {
  closeCheckouts,
  findCheckout,
  openCheckout,
  startCharging,
} from '../../../examples/app/src/checkout/checkouts.ts'
import { credentialRecords, openDatabase } from '../../../examples/app/src/database.ts'
import { readSettings } from '../../../examples/app/src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'example-app-'))
const DATABASE = join(folder, 'payments.db')
const APP_ENCRYPTION_KEY = randomBytes(32).toString('base64')
const PLATFORM_URL = 'http://127.0.0.1:9'
const app = paymentApp(readSettings({ PLATFORM_URL, APP_ENCRYPTION_KEY, DATABASE }), false)
const database = openDatabase(DATABASE)
whenDone(async () => {
  await app.close()
  database.close()
  rmSync(folder, { recursive: true })
})
const keys = encryptedKeyStore(credentialRecords(database), APP_ENCRYPTION_KEY)
const url = await app.listen({ host: '127.0.0.1', port: 0 })

/** Installs the app in a new workspace. */
async function installed() {
  const [workspace, key] = [randomUUID(), randomBytes(32)]
  await keys.put(workspace, { apiKey: 'sk_live_x', webhookSecret: `whsec_${key.toString('base64')}` })
  return { workspace, key }
}

/** An event as the platform sends it, signed by a key. */
function delivery(key: Buffer, data: object, event: object = {}) {
  const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1000))]
  const body = JSON.stringify({ id, type: 'order.updated', timestamp: new Date(), livemode: true, ...event, data })
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('hex')
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  return { id, body, headers: { ...headers, 'content-type': 'application/json' } }
}

const deliver = async (workspace: string, { body, headers }: ReturnType<typeof delivery>) =>
  (await fetch(`${url}/webhooks/${workspace}`, { method: 'POST', body, headers })).status

it('takes the largest event that there can be, for the workspace in the URL alone (OP-196)', async () => {
  const [ours, other] = [await installed(), await installed()]
  const rest = delivery(ours.key, { text: '' }).body.length
  const largest = delivery(ours.key, { text: 'x'.repeat(LIMITS.recordBytes - rest) })
  expect(await deliver(other.workspace, largest)).toBe(400)
  expect(await deliver(ours.workspace, largest)).toBe(204)
  const rows = database.prepare('select workspace_id from event where id = ?').all(largest.id)
  expect(rows.map((row) => row.workspace_id)).toEqual([ours.workspace])
})

/** An order in a new workspace, with the page for its 900. */
async function openOrder() {
  const { workspace, key } = await installed()
  const order = { workspaceId: workspace, order: randomUUID(), amountMinor: 900, currency: 'NGN' }
  const { id = '' } = openCheckout(database, order) ?? {}
  const asEvent = async (changes: object, event: object = {}) => {
    const data = { id: order.order, status: 'PLACED', payment_status: 'UNPAID', total_price: 900, ...changes }
    expect(await deliver(workspace, delivery(key, data, event))).toBe(204)
    return findCheckout(database, id)?.state
  }
  return { order, id, asEvent }
}

it('closes the page of an order by the newest event of the order, and not by one that is late', async () => {
  const { asEvent } = await openOrder()
  const at = (time: string) => ({ timestamp: `2026-03-01T12:00:${time}Z` })
  expect(await asEvent({}, at('02.500'))).toBe('OPEN')
  expect(await asEvent({ payment_status: 'PAID' }, at('02'))).toBe('OPEN')
  expect(await asEvent({ payment_status: 'PAID' }, at('02.500'))).toBe('CLOSED')
})

it.each<[string, object, boolean]>([
  ['is paid', { payment_status: 'PAID' }, false],
  ['is cancelled', { status: 'CANCELLED' }, false],
  ['is paid in part', { payment_status: 'PARTIALLY_PAID' }, true],
  ['costs less', { total_price: 899 }, true],
  ['got its deposit back', { payment_status: 'REFUNDED' }, true],
])('an order that %s meanwhile is not paid on the page of before', async (_, changes, isOwed) => {
  const { order, id, asEvent } = await openOrder()
  expect(await asEvent({})).toBe('OPEN')
  expect(await asEvent(changes)).toBe('CLOSED')
  // As a request that the platform has sent before the event.
  const next = openCheckout(database, order)
  expect(next?.state).toBe(isOwed ? 'OPEN' : undefined)
  expect(next?.id).not.toBe(id)
})

it('a test closes no page of a live workspace', async () => {
  const { asEvent } = await openOrder()
  expect(await asEvent({ payment_status: 'PAID' }, { livemode: false })).toBe('OPEN')
})

const charges = (id: string, of = database) =>
  of.prepare('select amount_minor from charge where checkout_id = ?').all(id)

it('a declined payment takes no money, is not recorded, and leaves the order to another page', async () => {
  const order = {
    workspaceId: (await installed()).workspace,
    order: randomUUID(),
    amountMinor: 40_200,
    currency: 'NGN',
  }
  const { id = '' } = openCheckout(database, order) ?? {}
  const page = await fetch(`${url}/pay/${id}`, { method: 'POST', body: new URLSearchParams() })
  expect(await page.text()).toContain('declined')
  expect([findCheckout(database, id)?.state, charges(id)]).toEqual(['CLOSED', []])
  expect(openCheckout(database, order)?.state).toBe('OPEN')
})

const platform = generateKeyPairSync('ed25519')
function platformToken(workspace: string) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    iss: PLATFORM_URL,
    aud: 'example-pay',
    provider: 'example-pay',
    purpose: 'provision',
    wid: workspace,
  }
  const exp = Math.floor(Date.now() / 1000) + 300
  const text = `${part({ alg: 'EdDSA' })}.${part({ ...claims, scopes: [], jti: randomUUID(), exp })}`
  return `Bearer ${text}.${sign(null, Buffer.from(text), platform.privateKey).toString('base64url')}`
}

it('is away while the keys of the platform cannot be read', async () => {
  const headers = { authorization: platformToken(randomUUID()) }
  expect((await fetch(`${url}/install/uninstall`, { method: 'POST', headers })).status).toBe(503)
})

it('works with the former credentials until a call with the new key has succeeded', async () => {
  const calls: string[] = []
  let inForce = 'sk_live_1'
  const server = createServer(({ headers: { authorization = '' } }, response) => {
    const key = authorization.slice('Bearer '.length)
    calls.push(key)
    if (key === inForce) response.writeHead(201, { 'content-type': 'application/json' }).end('{}')
    else response.writeHead(401, { 'error-reason': 'key_not_in_force' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => void server.close())
  const settings = readSettings({
    PLATFORM_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PLATFORM_ISSUER: PLATFORM_URL,
    PLATFORM_PEM: String(platform.publicKey.export({ type: 'spki', format: 'pem' })),
    APP_ENCRYPTION_KEY,
    DATABASE,
  })
  const its = paymentApp(settings, false)
  whenDone(() => its.close())
  const [workspaceId, secrets] = [randomUUID(), [1, 2, 3].map(() => randomBytes(32))]
  const provision = async (generation: number) => {
    const webhookSecret = `whsec_${secrets[generation - 1]?.toString('base64')}`
    const headers = { authorization: platformToken(workspaceId) }
    const payload = { apiKey: `sk_live_${generation}`, webhookSecret }
    expect((await its.inject({ method: 'POST', url: '/install/provision', headers, payload })).statusCode).toBe(204)
  }
  const isPaid = async () => {
    const { id = '' } =
      openCheckout(database, { workspaceId, order: randomUUID(), amountMinor: 900, currency: 'NGN' }) ?? {}
    await its.inject({ method: 'POST', url: `/pay/${id}` })
    return findCheckout(database, id)?.state === 'PAID'
  }
  const verifies = async () => {
    const statuses = await Promise.all(secrets.map((secret) => deliver(workspaceId, delivery(secret, {}))))
    return statuses.map((status) => status === 204)
  }
  for (const generation of [1, 2, 2, 3]) await provision(generation)
  expect([await isPaid(), await verifies()]).toEqual([true, [true, false, true]])
  inForce = 'sk_live_3'
  expect([await isPaid(), await verifies()]).toEqual([true, [false, false, true]])
  expect(calls).toEqual(['sk_live_3', 'sk_live_1', 'sk_live_3'])
})

it('takes the money that a customer has paid before a crash, and repeats the payment until the platform has it, one round at a time', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  whenDone(() => vi.useRealTimers())
  const requests: ServerResponse[] = []
  const platform = createServer((_request, response) => requests.push(response))
  await once(platform.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => void platform.close())
  const { port } = platform.address() as AddressInfo
  const settings = { PLATFORM_URL: `http://127.0.0.1:${port}`, APP_ENCRYPTION_KEY, DATABASE: join(folder, 'slow.db') }
  const slow = paymentApp(readSettings(settings), false)
  whenDone(() => slow.close())
  const itsDatabase = openDatabase(settings.DATABASE)
  whenDone(() => itsDatabase.close())
  const workspaceId = randomUUID()
  await encryptedKeyStore(credentialRecords(itsDatabase), APP_ENCRYPTION_KEY).put(workspaceId, { apiKey: 'sk_live_x' })
  const order = { workspaceId, order: randomUUID(), amountMinor: 900, currency: 'NGN' }
  const { id = '' } = openCheckout(itsDatabase, order) ?? {}
  startCharging(itsDatabase, id)
  closeCheckouts(itsDatabase, workspaceId, order.order, 0)

  await slow.ready()
  await eventually('it asks the platform', () => requests.length === 1)
  vi.advanceTimersByTime(60_000)
  // As a load balancer answers.
  requests[0]?.writeHead(502).end()
  await eventually('it asks again', () => {
    vi.advanceTimersByTime(30_000)
    return requests.length > 1
  })
  expect([findCheckout(itsDatabase, id)?.state, charges(id, itsDatabase)]).toEqual(['CHARGED', [{ amount_minor: 900 }]])
  requests[1]?.writeHead(201).end('{}')
  await eventually('the payment is recorded', () => findCheckout(itsDatabase, id)?.state === 'PAID')
  expect(requests).toHaveLength(2)
})

it('refuses a workspace that has not installed it before the body has come', async () => {
  const { key } = await installed()
  const { headers, body } = delivery(key, {})
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${url}/webhooks/${randomUUID()}`, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    })
    sent.once('response', resolve).once('error', reject).flushHeaders()
    whenDone(() => void sent.destroy())
  })
  expect(answer.statusCode).toBe(400)
  answer.resume()
})
