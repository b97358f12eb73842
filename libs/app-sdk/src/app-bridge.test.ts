import { afterEach, beforeEach, expect, it, vi } from 'vitest'

type Message = { readonly origin: string; readonly source?: unknown; readonly data: unknown }
interface Bridge {
  sessionToken(): Promise<string>
  fetch(resource: string | Request, options?: RequestInit): Promise<Response>
  ready(): void
}
// A browser module in plain JavaScript.
const { appBridge } = (await import(new URL('app-bridge.js', import.meta.url).href)) as {
  appBridge(platformOrigin: string, page: unknown, origins?: string[]): Bridge
}
const HOST = 'https://platform.example'

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

/** An embed's window, framed by a page that keeps what it is sent. */
function framed(origins?: string[]) {
  const listeners = new Set<(message: Message) => void>()
  const sent: [unknown, string][] = []
  const parent = { postMessage: (data: unknown, origin: string) => sent.push([data, origin]) }
  const page = {
    location: { origin: 'https://app.example' },
    parent,
    addEventListener: (_: string, listener: (message: Message) => void) => listeners.add(listener),
    removeEventListener: (_: string, listener: (message: Message) => void) => listeners.delete(listener),
  }
  const bridge = appBridge(HOST, page, origins)
  const say = (message: Message) => {
    for (const listener of listeners) listener({ source: parent, ...message })
  }
  return { bridge, sent, say, listeners }
}
const token = (text: string, seconds = 300) => ({
  type: 'SESSION_TOKEN',
  token: text,
  exp: Math.floor(Date.now() / 1000) + seconds,
})

it('asks the platform page, and only its origin, for a session token', async () => {
  const { bridge, sent, say } = framed()
  const answered = bridge.sessionToken()
  await Promise.resolve()
  expect(sent).toEqual([[{ type: 'GET_SESSION_TOKEN' }, HOST]])
  say({ origin: HOST, data: token('t1') })
  expect(await answered).toBe('t1')
})

it('ignores messages of other origins, of other windows and of other types', async () => {
  const { bridge, say } = framed()
  const answered = bridge.sessionToken()
  await Promise.resolve()
  say({ origin: 'https://evil.example', data: token('evil') })
  say({ origin: HOST, source: {}, data: token('other window') })
  say({ origin: HOST, data: { type: 'THEME', token: 'theme' } })
  say({ origin: HOST, data: null })
  say({ origin: HOST, data: token('genuine') })
  expect(await answered).toBe('genuine')
})

it('keeps a token and asks for the next shortly before it expires', async () => {
  const { bridge, sent, say } = framed()
  const [one, two] = [bridge.sessionToken(), bridge.sessionToken()]
  await Promise.resolve()
  say({ origin: HOST, data: token('t1') })
  expect([await one, await two, await bridge.sessionToken()]).toEqual(['t1', 't1', 't1'])
  expect(sent).toHaveLength(1)
  vi.setSystemTime(Date.now() + 271_000)
  const next = bridge.sessionToken()
  await vi.waitFor(() => expect(sent).toHaveLength(2), { timeout: 60_000 })
  say({ origin: HOST, data: token('t2') })
  expect(await next).toBe('t2')
})

it('keeps no expired token where the clock of the browser is an hour behind', async () => {
  const { bridge, sent, say } = framed()
  const first = bridge.sessionToken()
  await Promise.resolve()
  say({ origin: HOST, data: token('t1', 3600 + 300) })
  expect([await first, await bridge.sessionToken()]).toEqual(['t1', 't1'])
  vi.setSystemTime(Date.now() + 271_000)
  const next = bridge.sessionToken()
  await vi.waitFor(() => expect(sent).toHaveLength(2), { timeout: 60_000 })
  say({ origin: HOST, data: token('t2', 3600 + 300) })
  expect(await next).toBe('t2')
})

it('fails when the page gives no token within 10 seconds, and asks again afterwards', async () => {
  const { bridge, sent, say, listeners } = framed()
  const silent = bridge.sessionToken()
  const failure = expect(silent).rejects.toThrow('gives no session token')
  await vi.advanceTimersByTimeAsync(10_000)
  await failure
  expect(listeners.size).toBe(0)
  const next = bridge.sessionToken()
  expect(sent).toHaveLength(2)
  say({ origin: HOST, data: token('t1') })
  expect(await next).toBe('t1')
})

it('tells the page that the embed is ready', () => {
  const { bridge, sent } = framed()
  bridge.ready()
  expect(sent).toEqual([[{ type: 'READY' }, HOST]])
})

it('sends a request with its own headers, the options and the session token', async () => {
  const { bridge, say } = framed()
  const sent: Request[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    sent.push(request)
    return new Response()
  })
  const headers = { 'content-type': 'application/json' }
  const requests = [
    bridge.fetch(new Request('https://app.example/a', { method: 'POST', headers, body: '{}' })),
    bridge.fetch('https://app.example/b', { headers: { accept: 'text/plain' } }),
    bridge.fetch('https://app.example/c'),
  ]
  await Promise.resolve()
  say({ origin: HOST, data: token('t1') })
  await Promise.all(requests)
  vi.unstubAllGlobals()
  expect(sent.map(({ url, method, headers }) => [url, method, Object.fromEntries(headers)])).toEqual([
    ['https://app.example/a', 'POST', { ...headers, authorization: 'Bearer t1' }],
    ['https://app.example/b', 'GET', { accept: 'text/plain', authorization: 'Bearer t1' }],
    ['https://app.example/c', 'GET', { authorization: 'Bearer t1' }],
  ])
})

it.each([
  ['that of the page', undefined, 'https://app.example/a', 'https://api.app.example/a'],
  ['those that it was given', ['https://api.app.example'], 'https://api.app.example/a', 'https://app.example/a'],
])('sends the session token to no other origin than %s', async (_, origins, taken, refused) => {
  const { bridge, say } = framed(origins)
  const sent: string[] = []
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    sent.push(url)
    return new Response()
  })
  await expect(bridge.fetch(refused)).rejects.toThrow(`${new URL(refused).origin} is none of the origins`)
  const answered = bridge.fetch(taken)
  await Promise.resolve()
  say({ origin: HOST, data: token('t1') })
  await answered
  vi.unstubAllGlobals()
  expect(sent).toEqual([taken])
})
