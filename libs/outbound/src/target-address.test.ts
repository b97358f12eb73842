import { describe, expect, test } from 'vitest'
import { isAllowedAddress, isLoopbackHost } from './target-address.ts'

const everywhere = { allowLoopback: false }

describe('only public unicast addresses are sent to (OP-70)', () => {
  test.each(['8.8.8.8', '2001:4860:4860::8888', '::ffff:8.8.8.8', '172.32.0.1', '100.63.255.255'])(
    '%s is',
    (address) => {
      expect(isAllowedAddress(address, everywhere)).toBe(true)
    },
  )

  test.each([
    '127.0.0.1',
    '127.255.255.255',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '0.0.0.0',
    '0.1.2.3',
    '255.255.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '100::1',
    '3fff::1',
    '5f00::1',
    '9000::1',
  ])('%s is not', (address) => {
    expect(isAllowedAddress(address, everywhere)).toBe(false)
  })
})

test.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('loopback %s is sent to where allowed', (address) => {
  expect(isAllowedAddress(address, { allowLoopback: true })).toBe(true)
})

test('allowing loopback allows nothing else', () => {
  expect(isAllowedAddress('10.0.0.1', { allowLoopback: true })).toBe(false)
})

test.each([
  ['localhost', true],
  ['receiver.localhost', true],
  ['localhost.', true],
  ['127.0.0.1', true],
  ['[::1]', true],
  ['notlocalhost', false],
  ['localhost.example.com', false],
  ['10.0.0.1', false],
])('whether %s is this machine by its name: %s', (hostname, expected) => {
  expect(isLoopbackHost(hostname)).toBe(expected)
})
