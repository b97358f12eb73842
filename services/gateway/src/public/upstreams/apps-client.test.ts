import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { AppsClient, type AppsRequest } from './apps-client.ts'

/** A client of apps that hangs; `asked` has the paths that have arrived. */
async function hangingApps() {
  const asked = new Map<string, ServerResponse>()
  const server = createServer((request, response) => void asked.set(request.url ?? '', response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const apps = new AppsClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, testSigner())
  whenDone(async () => {
    server.closeAllConnections()
    server.close()
    await apps.stop()
  })
  const ask = (path: string, differences: Partial<AppsRequest<unknown>>) =>
    apps
      .ask({
        ...{ who: 'operator', actor: 'Ann', requestId: 'id', traceparent: 'none' },
        ...{ method: 'GET', path: `/internal/${path}`, answer: z.unknown() },
        ...differences,
      })
      .then(
        () => 'answered',
        (error: Error & { code?: unknown }) => error.code ?? error.message,
      )
  const merchant = () =>
    ({ who: 'merchant', actor: 'merchant', workspace: { id: randomUUID(), livemode: true } }) as const
  return { ask, asked, merchant }
}

test('one merchant who asks apps again and again holds up no other one, and no operator', async () => {
  const { ask, asked, merchant } = await hangingApps()
  const many = merchant()
  const answers = Array.from({ length: 500 }, (_, n) => ask(`many/${n}`, many))
  const others = [ask('other', merchant()), ask('ann', {}), ask('bob', { actor: 'Bob' })]
  await eventually('the others arrive', () => ['other', 'ann', 'bob'].every((path) => asked.has(`/internal/${path}`)))
  expect([...asked.keys()].filter((path) => path.includes('many')).length).toBeLessThanOrEqual(16)
  for (const response of asked.values()) response.end('{}')
  expect(await Promise.all(others)).toEqual(Array(3).fill('answered'))
  expect((await Promise.all(answers)).filter((answer) => answer === 'rate_limited').length).toBeGreaterThan(200)
})

test('what waits for one that has left is not sent, nor what waits for too long', async () => {
  const { ask, asked, merchant } = await hangingApps()
  const many = merchant()
  const gone = new AbortController()
  const under = Array.from({ length: 16 }, (_, n) => ask(`many/${n}`, many))
  await eventually('they arrive', () => asked.size === 16)
  const left = ask('left', { ...many, signal: gone.signal })
  const waiting = ask('waiting', many)
  gone.abort(new Error('the client left'))
  expect(await left).toBe('the client left')
  expect(await waiting).toBe('rate_limited')
  for (const response of asked.values()) response.end('{}')
  expect(await Promise.all(under)).toEqual(Array(16).fill('answered'))
  const later = ask('later', many)
  await eventually('it arrives', () => asked.has('/internal/later'))
  asked.get('/internal/later')?.end('{}')
  expect(await later).toBe('answered')
  expect([...asked.keys()].filter((path) => !path.includes('many'))).toEqual(['/internal/later'])
})
