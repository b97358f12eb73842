import { describe, expect, test } from 'vitest'
import { targetOrigin, targetUrl } from './target-url.ts'

const everywhere = { allowLoopback: false }
const locally = { allowLoopback: true }
const problemsOf = (url: string, policy = everywhere) =>
  targetUrl(policy)
    .safeParse(url)
    .error?.issues.map(({ message }) => message) ?? []

describe('URLs that are refused by their form', () => {
  test.each([
    ['', 'must be a URL such as https://example.com/webhooks'],
    ['example.com/webhooks', 'must be a URL such as https://example.com/webhooks'],
    ['https:example.com', 'must be a URL such as https://example.com/webhooks'],
    ['https://', 'must be a URL such as https://example.com/webhooks'],
    ['https://exa mple.com', 'must be a URL such as https://example.com/webhooks'],
    ['https:\\\\example.com', 'must be a URL such as https://example.com/webhooks'],
    ['https://exam\tple.com', 'must be a URL such as https://example.com/webhooks'],
    ['https://1.2.3.4.5', 'must be a URL such as https://example.com/webhooks'],
    ['https://example.com:65536', 'must be a URL such as https://example.com/webhooks'],
    ['ftp://example.com', 'must be a URL such as https://example.com/webhooks'],
    ['javascript:alert(1)', 'must be a URL such as https://example.com/webhooks'],
    ['file:///etc/passwd', 'must be a URL such as https://example.com/webhooks'],
    ['data:text/plain,x', 'must be a URL such as https://example.com/webhooks'],
    ['wss://example.com', 'must be a URL such as https://example.com/webhooks'],
    ['//example.com', 'must be a URL such as https://example.com/webhooks'],
    ['/webhooks', 'must be a URL such as https://example.com/webhooks'],
    ['https://example.com:-1', 'must be a URL such as https://example.com/webhooks'],
    ['https://.', 'must be a URL such as https://example.com/webhooks'],
    ['https://example..com', 'must be a URL such as https://example.com/webhooks'],
    [`https://${'a'.repeat(64)}.com`, 'must be a URL such as https://example.com/webhooks'],
    [`https://${'a.'.repeat(126)}com`, 'must be a URL such as https://example.com/webhooks'],
    ['https://exa%2fmple.com', 'must be a URL such as https://example.com/webhooks'],
    ['https://localhost%00.example.com', 'must be a URL such as https://example.com/webhooks'],
    ['https://a＠example.com', 'must be a URL such as https://example.com/webhooks'],
    ['https://[fe80::1%25eth0]', 'must be a URL such as https://example.com/webhooks'],
    ['https://256.1.1.1', 'must be a URL such as https://example.com/webhooks'],
    ['http://example.com', 'must be an https URL'],
    ['http://127.0.0.1', 'must be an https URL'],
    ['https://user@example.com', 'must not contain a user name or password'],
    ['https://:password@example.com', 'must not contain a user name or password'],
    ['https://@example.com', 'must not contain a user name or password'],
    ['https://%40:@example.com', 'must not contain a user name or password'],
    [`https://example.com/${'a'.repeat(2048)}`, 'Too big: expected string to have <=2048 characters'],
  ])('%s', (url, problem) => {
    expect(problemsOf(url)).toEqual([problem])
  })
})

test.each([0, 22, 25, 80, 1023, 2049, 5060, 6000, 6667, 10_080])('port %i is refused (OP-99)', (port) => {
  const refused = ['must use port 443, or one from 1024 that no other protocol has']
  expect(problemsOf(`https://example.com:${port}`)).toEqual(refused)
  expect(problemsOf(`https://example.com:${port}`, locally)).toEqual(refused)
  expect(problemsOf(`https://localhost:${port}`, locally)).toEqual([])
})

test.each([
  'https://example.com',
  'https://example.com:443',
  'https://example.com:1024',
  'https://example.com:65535',
  'https://example.com.',
  'https://example.com/a@b',
  'https://8.8.8.8',
  'https://xn--bcher-kva.example',
  'https://раypal.example',
  'https://example.com:8443/a?b=c#d',
  'HTTPS://EXAMPLE.com/%20',
  'https://bücher.example',
])('%s is accepted', (url) => expect(problemsOf(url)).toEqual([]))

test.each(['http://127.0.0.1:9000/hook', 'http://[::1]/hook', 'http://localhost:9000', 'https://localhost'])(
  '%s is accepted where loopback is allowed',
  (url) => expect(problemsOf(url, locally)).toEqual([]),
)

test('plain http elsewhere is refused even where loopback is allowed', () => {
  expect(problemsOf('http://example.com', locally)).toEqual(['must be an https URL'])
})

describe('an origin (OP-75)', () => {
  const origin = (text: string, policy = everywhere) => targetOrigin(policy).safeParse(text)
  const originOnly = 'must be an origin, without a path, query or fragment'

  test.each([
    ['https://example.com/app', originOnly],
    ['https://example.com//', originOnly],
    ['https://example.com?', originOnly],
    ['https://example.com/?a', originOnly],
    ['https://example.com#', originOnly],
    ['https://example.com/#a', originOnly],
    ['http://example.com', 'must be an https URL'],
    ['https://user:password@example.com', 'must not contain a user name or password'],
    ['https://example.com:25', 'must use port 443, or one from 1024 that no other protocol has'],
    ['example.com', 'must be a URL such as https://example.com'],
  ])('%s is refused', (text, message) => {
    expect(origin(text).error?.issues.map((issue) => issue.message)).toEqual([message])
  })

  test.each([
    ['https://example.com', 'https://example.com'],
    ['HTTPS://Example.com:443/', 'https://example.com'],
    ['https://example.com:8443', 'https://example.com:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('%s is %s', (text, expected) => expect(origin(text).data).toBe(expected))

  test('plain http to loopback is one where loopback is allowed', () => {
    expect(origin('http://localhost:9000', locally).data).toBe('http://localhost:9000')
  })
})
