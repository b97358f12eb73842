import { describe, expect, test } from 'vitest'
import { endpointUrl, refuseForbiddenTarget } from './endpoint-url.ts'

const everywhere = { allowLoopback: false }
const locally = { allowLoopback: true }
const problemsOf = (url: string, policy = everywhere) =>
  endpointUrl(policy)
    .safeParse(url)
    .error?.issues.map(({ message }) => message) ?? []
const nowhere = async () => []

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
    ['http://example.com', 'must be an https URL'],
    ['http://127.0.0.1', 'must be an https URL'],
    ['https://user@example.com', 'must not contain a user name or password'],
    ['https://:password@example.com', 'must not contain a user name or password'],
    [`https://example.com/${'a'.repeat(2048)}`, 'Too big: expected string to have <=2048 characters'],
  ])('%s', (url, problem) => {
    expect(problemsOf(url)).toEqual([problem])
  })
})

test.each([
  'https://example.com',
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

describe('targets that are refused by their address', () => {
  test.each([
    'https://127.0.0.1',
    'https://10.0.0.1',
    'https://0x7f.1',
    'https://2130706433',
    'https://0177.0.0.1',
    'https://１２７.0.0.1',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://[64:ff9b::a00:1]',
    'https://169.254.169.254/latest/meta-data',
  ])('%s', async (url) => {
    await expect(refuseForbiddenTarget(new URL(url), everywhere, nowhere)).rejects.toMatchObject({
      code: 'unprocessable',
    })
  })
})

test('a name with one private address is refused', async () => {
  const resolve = async () => ['8.8.8.8', '10.0.0.1']
  await expect(refuseForbiddenTarget(new URL('https://example.com'), everywhere, resolve)).rejects.toThrow(
    'url: example.com is not a public address',
  )
})

test('a name that does not resolve now is let through', async () => {
  await expect(refuseForbiddenTarget(new URL('https://example.com'), everywhere, nowhere)).resolves.toBeUndefined()
})
