import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  await eventually('it ends', () => isOver, 10_000)
  await forwarding
  expect(printed).toBe('')
})
