import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { TestAnswer } from '@backoffice/testing/service-client.ts'
import { request } from 'undici'
import { exchangeRaw } from './raw-http.ts'

/** A browser that shows the console: with cookies, the header of its pages, and where a request comes from. */
export function testConsole(gateway: { readonly url: string }) {
  const cookies = new Map<string, string>()
  let lastCookie = ''
  const cookieHeader = () => [...cookies].map((pair) => pair.join('=')).join('; ')

  async function send<Body = ErrorBody>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<TestAnswer<Body>> {
    const all = {
      ...(cookies.size > 0 && { cookie: cookieHeader() }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      'x-requested-with': 'console',
      'sec-fetch-site': 'same-origin',
      ...headers,
    }
    const answer = await request(`${gateway.url}${path}`, {
      method,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    })
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      lastCookie = cookie
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await answer.body.text()
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    } as never
  }

  return {
    cookies,
    /** The last `Set-Cookie`. */
    get lastCookie() {
      return lastCookie
    },
    send,
    login: (credential: string, headers: Record<string, string> = {}) =>
      send<Record<string, unknown>>('POST', '/console/session', { body: { credential }, headers }),
    /** Sends a GET whose target is written as it is. */
    async raw(target: string, isOfPages = true): Promise<{ readonly status: number }> {
      const lines = [`GET ${target} HTTP/1.1`, 'Host: a', `Cookie: ${cookieHeader()}`, 'Connection: close']
      if (isOfPages) lines.push('X-Requested-With: console')
      return { status: Number((await exchangeRaw(gateway.url, `${lines.join('\r\n')}\r\n\r\n`)).split(' ')[1]) }
    },
  }
}
