import { createHmac, randomBytes, randomUUID } from 'node:crypto'
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
import { findCheckout, openCheckout, takeMoney } from '../../../examples/app/src/checkout/checkouts.ts'
import { credentialRecords, openDatabase } from '../../../examples/app/src/database.ts'
import { readSettings } from '../../../examples/app/src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'example-app-'))
const DATABASE = join(folder, 'payments.db')
const APP_ENCRYPTION_KEY = randomBytes(32).toString('base64')
const app = paymentApp(readSettings({ PLATFORM_URL: 'http://127.0.0.1:9', APP_ENCRYPTION_KEY, DATABASE }), false)
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
function delivery(key: Buffer, data: object, occurredAt = new Date()) {
  const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1000))]
  const body = JSON.stringify({ id, type: 'order.updated', timestamp: occurredAt, livemode: true, data })
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

it('closes the page of an order by the newest event of the order, and not by one that is late', async () => {
  const { workspace, key } = await installed()
  const order = randomUUID()
  const { id = '' } = openCheckout(database, { workspaceId: workspace, order, amountMinor: 900, currency: 'NGN' }) ?? {}
  const stateAfter = async (second: number, changes: object) => {
    const data = { id: order, status: 'PLACED', payment_status: 'UNPAID', ...changes }
    expect(await deliver(workspace, delivery(key, data, new Date(second * 1000)))).toBe(204)
    return findCheckout(database, id)?.state
  }
  expect(await stateAfter(2, {})).toBe('OPEN')
  expect(await stateAfter(1, { payment_status: 'PAID' })).toBe('OPEN')
  expect(await stateAfter(2, { payment_status: 'PAID' })).toBe('CLOSED')
})

it('starts while the platform is slow, and repeats a payment until the platform has it, one round at a time', async () => {
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
  takeMoney(itsDatabase, id)

  await slow.ready()
  await eventually('it asks the platform', () => requests.length === 1)
  vi.advanceTimersByTime(60_000)
  // As a load balancer answers.
  requests[0]?.writeHead(502).end()
  await eventually('it asks again', () => {
    vi.advanceTimersByTime(30_000)
    return requests.length > 1
  })
  expect(findCheckout(itsDatabase, id)?.state).toBe('CHARGED')
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
