import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { forwardEvents } from './forward-events.ts'

test('a stop ends it at once, also while the gateway does not answer', async () => {
  const asked: ServerResponse[] = []
  const gateway = createServer((_, response) => void asked.push(response))
  await once(gateway.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    gateway.close()
    gateway.closeAllConnections()
  })
  const stopping = new AbortController()
  let [isOver, printed] = [false, '']
  const forwarding = forwardEvents({
    gateway: { url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`, token: 'sk_test_x' },
    path: '/v1/webhooks/1',
    endpoint: { secret: 'whsec_AA==', created_at: new Date().toISOString() },
    forwardTo: new URL('http://127.0.0.1:9'),
    stopping: stopping.signal,
    print: (text) => (printed += text),
  }).finally(() => {
    isOver = true
  })
  await eventually('it asks', () => asked.length === 1)
  stopping.abort()
  await eventually('it ends', () => isOver)
  await forwarding
  expect(printed).toBe('')
})

/** A gateway with an endpoint of no deliveries. `refuse` tells whether a look fails. */
async function anIdleGateway(refuse: (look: number) => boolean = () => false) {
  const looks: string[] = []
  const requests: string[] = []
  const gateway = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway')
    requests.push(`${request.method} ${pathname}`)
    const since = searchParams.get('since')
    if (since !== null) looks.push(since)
    const answer = since === null ? ENDPOINT : { items: [], has_next_page: false }
    response.writeHead(since !== null && refuse(looks.length) ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  await once(gateway.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    gateway.close()
    gateway.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`, looks, requests }
}

const ENDPOINT = { id: '1', secret: 'whsec_AA==', created_at: '2027-01-31T12:00:00.000Z' }

test('a look begins where the last one that was answered began, less half a minute, by the clock of the gateway', async () => {
  const { url, looks } = await anIdleGateway((look) => look === 2)
  const stopping = new AbortController()
  const forwarding = forwardEvents({
    gateway: { url, token: 'sk_test_x' },
    path: '/v1/webhooks/1',
    endpoint: ENDPOINT,
    forwardTo: new URL('http://127.0.0.1:9'),
    stopping: stopping.signal,
    print: () => undefined,
  })
  await eventually('it looks four times', () => looks.length >= 4)
  stopping.abort()
  await forwarding
  const [first, second, third, fourth] = looks.map((since) => Date.parse(since) - Date.parse(ENDPOINT.created_at))
  expect(first).toBe(-30_000)
  expect(second).toBeGreaterThanOrEqual(-30_000)
  expect(third).toBe(second)
  expect(fourth).toBeGreaterThan(third ?? 0)
})

test('a reader of the output that ends first leaves no endpoint behind', async () => {
  const { url, requests } = await anIdleGateway()
  const main = join(import.meta.dirname, '..', 'main.ts')
  const environment = { ...process.env, BACKOFFICE_KEY: 'sk_test_x' }
  const command = spawn('node', [main, 'listen', '--forward-to', 'http://127.0.0.1:9', '--url', url], {
    env: environment,
  })
  command.stdout.destroy()
  const [code] = await once(command, 'exit')
  expect([code, requests.at(-1)]).toEqual([141, 'DELETE /v1/webhooks/1'])
})
