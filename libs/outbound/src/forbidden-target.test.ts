import { describe, expect, test } from 'vitest'
import { type Resolve, refuseForbiddenTarget, resolveName } from './forbidden-target.ts'
import type { TargetPolicy } from './target-address.ts'

const everywhere = { allowLoopback: false }
const locally = { allowLoopback: true }
const nowhere = async () => []
const refuse = (url: string, policy: TargetPolicy, resolve: Resolve) =>
  refuseForbiddenTarget({ url: new URL(url), path: ['url'] }, policy, resolve)

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
    await expect(refuse(url, everywhere, nowhere)).rejects.toMatchObject({
      code: 'unprocessable',
    })
  })
})

test('a name with one private address is refused', async () => {
  const resolve = async () => ['8.8.8.8', '10.0.0.1']
  await expect(refuse('https://example.com', everywhere, resolve)).rejects.toThrow(
    'url: example.com is not a public address',
  )
})

test.each(['https://localhost', 'https://LOCALHOST.', 'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'https://metadata.localhost'])(
  '%s is this machine without a lookup',
  async (url) => {
    await expect(refuse(url, everywhere, resolveName)).rejects.toThrow('is not a public address')
    await expect(refuse(url, locally, resolveName)).resolves.toBeUndefined()
  },
)

test('a name that does not resolve now is let through', async () => {
  await expect(refuse('https://example.com', everywhere, nowhere)).resolves.toBeUndefined()
})
