import { request } from 'undici'

interface Page {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

interface Request {
  readonly form?: Readonly<Record<string, string | string[]>>
  readonly headers?: Record<string, string>
}

/** A browser with cookies. It follows no redirect, and says that a POST comes from our page, unless told otherwise. */
export function testBrowser(gateway: { readonly url: string }) {
  const cookies = new Map<string, string>()

  async function send(
    method: 'GET' | 'HEAD' | 'POST',
    address: string,
    { form, headers = {} }: Request = {},
  ): Promise<Page> {
    const { pathname, search } = new URL(address, gateway.url)
    const answer = await request(`${gateway.url}${pathname}${search}`, {
      method,
      headers: withoutEmpty({
        ...(cookies.size > 0 && { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(method === 'POST' && { 'sec-fetch-site': 'same-origin' }),
        ...headers,
      }),
      ...(form && { body: new URLSearchParams(pairsOf(form)).toString() }),
    })
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]?.split('=') ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }

  return {
    cookies,
    send,
    /** Opens a one-time link as its page's button does. */
    enter: (url: string, headers?: Record<string, string>) =>
      send('POST', '/apps/enter', {
        form: { link: new URL(url).searchParams.get('link') ?? '' },
        ...(headers && { headers }),
      }),
  }
}
/** A header that a test sets to nothing is left out. */
const withoutEmpty = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))

const pairsOf = (form: Readonly<Record<string, string | string[]>>): [string, string][] =>
  Object.entries(form).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))

/** The values of a page's hidden fields of a name. */
export const fieldsOf = ({ text }: Pick<Page, 'text'>, name: string): string[] =>
  [...text.matchAll(new RegExp(`name="${name}" value="([^"]*)"`, 'g'))].map(([, value = '']) => value)
