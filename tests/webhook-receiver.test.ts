import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterAll, expect, test } from 'vitest'

const RECEIVER = fileURLToPath(new URL('../examples/webhook-receiver/receiver.mjs', import.meta.url))
const key = randomBytes(32)
const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function startProcess(environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env.PATH, WEBHOOK_SECRET: `whsec_${key.toString('base64')}`, PORT: '0', ...environment }
  const child = spawn(process.execPath, [RECEIVER], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return { child, output: () => output, handled: (id: string) => output.split(`${id}: `).length - 1 }
}

async function startReceiver(environment?: NodeJS.ProcessEnv) {
  const started = startProcess(environment)
  const url = await eventually('the receiver listens', () => started.output().match(/http:\S+/)?.[0])
  return { ...started, url }
}

const anEvent = () => {
  const id = randomUUID()
  return { id, body: JSON.stringify({ id, type: 'tag.created', livemode: true, data: { name: 'Größe ½ 👕' } }) }
}
const signed = ({ id, body }: { id: string; body: string }, signedAt = Date.now(), signingKey = key) => {
  const timestamp = String(Math.floor(signedAt / 1000))
  const digest = createHmac('sha256', signingKey).update(`${id}.${timestamp}.${body}`).digest('hex')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${digest}` }
}
/** Each on a connection of its own: the receiver closes those that wait for their next request. */
const post = async (url: string, headers: Record<string, string>, body: string) =>
  (await fetch(url, { method: 'POST', headers: { ...headers, connection: 'close' }, body })).status

const receiver = await startReceiver()

test('a genuine delivery is answered 200 and handled', async () => {
  const event = anEvent()
  expect(await post(receiver.url, signed(event), event.body)).toBe(200)
  await eventually('it is handled', () => receiver.handled(event.id) === 1)
  expect(receiver.output()).toContain(`tag.created ${event.id}: Größe ½ 👕`)
})

test('a test is answered 200 and not handled as real', async () => {
  const { id, body } = anEvent()
  const event = { id, body: body.replace('true', 'false') }
  expect(await post(receiver.url, signed(event), event.body)).toBe(200)
  await eventually('it is known', () => receiver.output().includes(`${id} is not live`))
  expect(receiver.handled(id)).toBe(0)
})

test('a delivery that comes again, also at the same moment, is answered 200 and handled once', async () => {
  const [event, next] = [anEvent(), anEvent()]
  const send = () => post(receiver.url, signed(event), event.body)
  expect(await Promise.all([send(), send(), send()])).toEqual([200, 200, 200])
  expect(await send()).toBe(200)
  expect(await post(receiver.url, signed(next), next.body)).toBe(200)
  await eventually('the next is handled', () => receiver.handled(next.id) === 1)
  expect(receiver.handled(event.id)).toBe(1)
})

test('of the events of a resource one that is older than a handled one is answered 200 and not handled', async () => {
  const data = { id: randomUUID() }
  const at = (timestamp: string) => {
    const id = randomUUID()
    return { id, body: JSON.stringify({ id, type: 'order.updated', timestamp, livemode: true, data }) }
  }
  const newer = at('2026-03-01T10:00:00.000Z')
  const older = at('2026-03-01T09:59:59.999Z')
  const same = at('2026-03-01T10:00:00.000Z')
  for (const event of [newer, older, same]) {
    expect(await post(receiver.url, signed(event), event.body)).toBe(200)
  }
  await eventually('the last is handled', () => receiver.handled(same.id) === 1)
  expect([receiver.handled(newer.id), receiver.handled(older.id)]).toEqual([1, 0])
})

test.each<[string, (event: { id: string; body: string }) => [Record<string, string>, string]]>([
  ['a tampered body', (event) => [signed(event), event.body.replace('created', 'deleted')]],
  ['a signature by another secret', (event) => [signed(event, Date.now(), randomBytes(32)), event.body]],
  ['a stale timestamp', (event) => [signed(event, Date.now() - 302_000), event.body]],
  ['no signature', (event) => [{ 'webhook-id': event.id }, event.body]],
  ['an id that is a path', ({ body }) => [signed({ id: '../escaped', body }), body]],
])('%s is answered 400 and not handled', async (_, forge) => {
  const event = anEvent()
  const [headers, body] = forge(event)
  expect(await post(receiver.url, headers, body)).toBe(400)
  expect(await post(receiver.url, signed(event), event.body)).toBe(200)
  await eventually('the genuine one is handled', () => receiver.handled(event.id) === 1)
})

test('a body of 8 MiB is taken, and a larger one is answered 413', async () => {
  const event = anEvent()
  const largest = event.body + ' '.repeat(8 * 1024 * 1024 - Buffer.byteLength(event.body))
  const send = (body: string) => post(receiver.url, signed({ id: event.id, body }), body)
  for (const more of [1, 20_000_000]) expect([more, await send(largest + ' '.repeat(more))]).toEqual([more, 413])
  expect(await send(largest)).toBe(200)
  await eventually('it is handled', () => receiver.handled(event.id) === 1)
})

test('during an overlap one of the signatures is enough', async () => {
  const event = anEvent()
  const [ours, others] = [signed(event), signed(event, Date.now(), randomBytes(32))]
  const both = `${others['webhook-signature']} ${ours['webhook-signature']}`
  expect(await post(receiver.url, { ...ours, 'webhook-signature': both }, event.body)).toBe(200)
})

test('what was stored and not handled when it was killed is handled by the next process, and only that', async () => {
  const [handled, unread] = [anEvent(), { id: randomUUID(), body: 'not JSON' }]
  const environment = { INBOX: 'another-inbox' }
  const killed = await startReceiver(environment)
  expect(await post(killed.url, signed(handled), handled.body)).toBe(200)
  await eventually('it is handled', () => killed.handled(handled.id) === 1)
  expect(await post(killed.url, signed(unread), unread.body)).toBe(200)
  await eventually('it is tried', () => killed.output().includes(`${unread.id} failed`))
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')

  const next = await startReceiver(environment)
  await eventually('it is tried again', () => next.output().includes(`${unread.id} failed`))
  expect(await post(next.url, signed(handled), handled.body)).toBe(200)
  expect(next.handled(handled.id)).toBe(0)
})

test('without a secret it does not start', async () => {
  const { child, output } = startProcess({ WEBHOOK_SECRET: '' })
  const [code] = await once(child, 'exit')
  expect(code).toBe(1)
  expect(output()).toContain('WEBHOOK_SECRET')
})
