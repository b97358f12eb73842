import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROUTED_SERVICES, urlSetting } from '@backoffice/contracts/services.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { TOKEN_SETTINGS } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { GatewayConfig } from './config.ts'

const NEEDED = {
  ...TOKEN_SETTINGS,
  DATABASE_URL: 'postgres://db/app',
  WORKER_DATABASE_URL: 'postgres://db/app',
  KAFKA_BROKERS: 'kafka:9092',
  SCHEMA_REGISTRY_URL: 'http://registry',
  ADMIN_TOKEN: 'operator-token-of-the-tests',
  PUBLIC_URL: 'https://shop.example',
  ASSETS_URL: 'https://shop.example/assets',
  ...Object.fromEntries(ROUTED_SERVICES.map((name) => [urlSetting(name), 'http://service'])),
}
const read = (settings: Record<string, string>) => readConfig(GatewayConfig, { ...NEEDED, ...settings })

test('no proxy is trusted, and there are no check keys, unless set', () => {
  expect(read({})).toMatchObject({ TRUSTED_PROXIES: [] })
  expect(read({}).API_KEY_CHECK_KEYS).toBeUndefined()
})

test('trusted proxies are addresses and CIDR blocks of either family', () => {
  const { TRUSTED_PROXIES } = read({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,2001:db8::/32' })
  expect(TRUSTED_PROXIES).toEqual(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])
})

test.each(['proxy.example', '10.0.0.0/33', '10.0.0.1-10.0.0.9'])('refuses the trusted proxy %s', (text) => {
  expect(() => read({ TRUSTED_PROXIES: text })).toThrow('TRUSTED_PROXIES')
})

test('the server of the rate limits may come from a file, and a wrong one is refused without its text', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'url')
  writeFileSync(file, 'rediss://:secret@limits:6379/2\n')
  whenDone(() => rmSync(dirname(file), { recursive: true }))
  expect(read({ RATE_LIMIT_URL_FILE: file }).RATE_LIMIT_URL).toBe('rediss://:secret@limits:6379/2')
  expect(read({}).RATE_LIMIT_URL).toBeUndefined()
  expect(() => read({ RATE_LIMIT_URL: 'http://:secret@limits' })).toThrow(/RATE_LIMIT_URL: (?!.*secret)/)
})

test('a check key that is none is refused without its value', () => {
  const key = Buffer.alloc(31, 1).toString('base64')
  expect(() => read({ API_KEY_CHECK_KEYS: `one:${key}` })).toThrow(/API_KEY_CHECK_KEYS: (?!.*AQEB)/)
  expect(() => read({ API_KEY_CHECK_KEYS_FILE: '/nowhere' })).toThrow('names a file that cannot be read')
})
