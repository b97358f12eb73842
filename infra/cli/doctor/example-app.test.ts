import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encryptedKeyStore } from '@backoffice/app-sdk'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { paymentApp } from '../../../examples/app/src/app.ts'
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

/** An event of so many bytes as the platform sends it, signed by a key. */
function delivery(key: Buffer, bytes = 200) {
  const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1000))]
  const event = { id, type: 'order.paid', timestamp: new Date().toISOString(), livemode: true, data: { text: '' } }
  const body = JSON.stringify({ ...event, data: { text: 'x'.repeat(bytes - JSON.stringify(event).length) } })
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('hex')
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  return { id, body, headers: { ...headers, 'content-type': 'application/json' } }
}

const deliver = async (workspace: string, { body, headers }: ReturnType<typeof delivery>) =>
  (await fetch(`${url}/webhooks/${workspace}`, { method: 'POST', body, headers })).status

it('takes the largest event that there can be, for the workspace in the URL alone (OP-196)', async () => {
  const [ours, other] = [await installed(), await installed()]
  const largest = delivery(ours.key, LIMITS.recordBytes)
  expect(await deliver(other.workspace, largest)).toBe(400)
  expect(await deliver(ours.workspace, largest)).toBe(204)
  const rows = database.prepare('select workspace_id from event where id = ?').all(largest.id)
  expect(rows.map((row) => row.workspace_id)).toEqual([ours.workspace])
})

it('refuses a workspace that has not installed it before the body has come', async () => {
  const { key } = await installed()
  const { headers, body } = delivery(key)
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
