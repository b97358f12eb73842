import { randomBytes, randomUUID } from 'node:crypto'
import { createServiceApp } from '@backoffice/http/server.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller, headersOf, testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { afterAll, expect, test } from 'vitest'
import { anEvent, type CreatedEndpoint, testedOperations, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, appUrl, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

/** Everything that was logged, and every statement with its parameters. */
const seen: string[] = []
const note = (...parts: unknown[]) =>
  void seen.push(
    JSON.stringify(parts, (_, value) => (value instanceof Error ? { ...value, text: String(value) } : value)),
  )
const logger: Logger = Object.assign(createLogger('test', 'silent'), {
  debug: note,
  info: note,
  warn: note,
  error: note,
})
const db = openDatabase({ url: appUrl, applicationName: 'test', onStatement: note })
afterAll(() => db.stop?.())
const app = createServiceApp({ logger, db, verifyToken: testVerifier(), operations: testedOperations })
const caller = aCaller()

async function send<Body = CreatedEndpoint>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) {
  const response = await app.inject({
    method,
    url: path,
    headers: { ...(await headersOf(caller)), ...(method === 'POST' && { 'idempotency-key': randomUUID() }) },
    ...(body !== undefined && { payload: body as object }),
  })
  return { text: response.body, body: (response.body && JSON.parse(response.body)) as Body }
}

/** Every row of every table, as text: bytes are in hex. */
async function everyRow(): Promise<string> {
  const tables = await admin<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = current_schema()`
  const rows = await Promise.all(
    tables.map(({ name }) => admin`select stored::text as row from ${admin(name)} as stored`),
  )
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n')
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

test('a secret is in the answer that shows it once and in no other answer, row, statement or line of the log', async () => {
  const replica = await startReplica({ logger })
  const created = (await send('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })).body
  const path = `/v1/webhooks/${created.id}`
  const rotated = (await send('POST', `${path}/secret/rotate`, { overlap_seconds: 3600 })).body
  await replica.publish(anEvent(caller))
  await eventually('the delivery is recorded', async () => {
    const [delivery] = await admin`select status from delivery where endpoint_id = ${created.id}`
    return delivery?.status === 'DELIVERED'
  })
  const { body: list } = await send<{ items: { id: string }[] }>('GET', `${path}/deliveries`)
  const delivery = `${path}/deliveries/${list.items[0]?.id}`
  const ofApp = { url: receiver.url, enabled_events: ['*'], description: null, secret: newSecret() }
  const answers = [
    await send('PUT', `/internal/endpoints/${randomUUID()}`, ofApp),
    await send('PUT', `/internal/endpoints/${randomUUID()}`, { ...ofApp, secret: `${ofApp.secret}=` }),
    await send('PUT', `/internal/endpoints/${randomUUID()}`, { ...ofApp, url: 'http://example.com' }),
    await send('GET', path),
    await send('GET', delivery),
    await send('POST', `${delivery}/resend`),
    await send('POST', `${path}/ping`),
    await send('POST', `${path}/recover`, { since: '2026-03-01T00:00:00Z' }),
    await send('POST', `${path}/secret/rotate`, { overlap_seconds: 'soon' }),
    await send('PUT', path, { description: 'changed' }),
    await send('GET', '/v1/webhooks'),
    await send('GET', `${path}/deliveries`),
  ].map(({ text }) => text)

  expect(answers.join()).toContain('"Webhook-Signature":"v1,')

  const everything = [...answers, ...seen, await everyRow()].join('\n')
  expect(everything).toContain(created.id)
  for (const { secret } of [created, rotated, ofApp]) {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    for (const form of [key.toString('base64'), key.toString('base64url'), key.toString('hex'), String([...key])]) {
      expect(everything).not.toContain(form)
    }
  }
})
