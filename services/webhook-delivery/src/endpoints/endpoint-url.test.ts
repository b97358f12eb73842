import { describe, expect, test } from 'vitest'
import { endpointUrl, refuseForbiddenTarget, resolveName } from './endpoint-url.ts'

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

describe('targets that are refused by their address', () => {
  test.each([
    'https://127.0.0.1',
    'https://10.0.0.1',
    'https://0x7f.1',
    'https://0x7f000001',
    'https://2130706433',
    'https://017700000001',
    'https://0177.0.0.1',
    'https://127.1',
    'https://10.1',
    'https://0',
    'https://0x',
    'https://127.0.0.1.',
    'https://%31%32%37.0.0.1',
    'https://127。0。0。1',
    'https://１２７.0.0.1',
    'https://10.0.\u{200b}0.1',
    'https://[::1]',
    'https://[::]',
    'https://[::127.0.0.1]',
    'https://[::ffff:10.0.0.1]',
    'https://[::ffff:169.254.169.254]',
    'https://[64:ff9b::a9fe:a9fe]',
    'https://192.168.1.1',
    'https://172.16.0.1:8443',
    'https://[fec0::1]',
    'https://[2001:db8::1]',
    'https://[::ffff:a00:1]',
    'https://[64:ff9b::a00:1]',
    'https://[64:ff9b:1::a00:1]',
    'https://[2002:a00:1::]',
    'https://[2001:0:a00:1::]',
    'https://[fd00:ec2::254]',
    'https://[fe80::1]',
    'https://[ff02::1]',
    'https://100.100.100.200',
    'https://198.19.255.255',
    'https://203.0.113.1',
    'https://255.255.255.255',
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

test.each(['https://localhost', 'https://LOCALHOST.', 'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'https://metadata.localhost'])(
  '%s is this machine without a lookup',
  async (url) => {
    await expect(refuseForbiddenTarget(new URL(url), everywhere, resolveName)).rejects.toThrow(
      'is not a public address',
    )
    await expect(refuseForbiddenTarget(new URL(url), locally, resolveName)).resolves.toBeUndefined()
  },
)

test('a name that does not resolve now is let through', async () => {
  await expect(refuseForbiddenTarget(new URL('https://example.com'), everywhere, nowhere)).resolves.toBeUndefined()
})
