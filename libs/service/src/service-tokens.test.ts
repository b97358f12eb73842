import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readConfig } from '@backoffice/runtime/config.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { serviceConfig } from './service-config.ts'
import { serviceTokens } from './service-tokens.ts'

const base64 = (key: KeyObject, type: 'pkcs8' | 'spki') => key.export({ format: 'der', type }).toString('base64')
const pair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { secret: base64(privateKey, 'pkcs8'), open: base64(publicKey, 'spki') }
}
const [one, two] = [pair(), pair()]
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

const ORDERS = {
  DATABASE_URL: 'postgres://db/app',
  WORKER_DATABASE_URL: 'postgres://db/app',
  KAFKA_BROKERS: 'kafka:9092',
  SCHEMA_REGISTRY_URL: 'http://registry',
  CATALOG_URL: 'http://catalog',
  APPS_URL: 'http://apps',
}
const tokensOf = async (settings: Record<string, string>) =>
  serviceTokens('orders', readConfig(serviceConfig('orders'), { ...ORDERS, ...settings }))
const caller = aCaller()
const now = new Date()

describe('keys that a service cannot work with end its start with the name of the setting, never with the key', () => {
  const open = `one:${one.open}`
  test.each<[string, Record<string, string>, string]>([
    [
      'a P-256 key',
      { INTERNAL_TOKEN_PRIVATE_KEYS: `one:${base64(p256.privateKey, 'pkcs8')}` },
      'PRIVATE_KEYS: must be',
    ],
    ['an RSA key', { INTERNAL_TOKEN_PRIVATE_KEYS: `one:${base64(rsa.privateKey, 'pkcs8')}` }, 'PRIVATE_KEYS: must be'],
    [
      'a public P-256 key',
      { INTERNAL_TOKEN_PUBLIC_KEYS: `one:${base64(p256.publicKey, 'spki')}` },
      'PUBLIC_KEYS: must be',
    ],
    ['a key without an id', { INTERNAL_TOKEN_PRIVATE_KEYS: one.secret }, 'entry 1 is not'],
    ['an id twice', { INTERNAL_TOKEN_PUBLIC_KEYS: `${open},one:${two.open}` }, 'entry 2 repeats a key id'],
    ['no private key', { INTERNAL_TOKEN_PUBLIC_KEYS: open }, 'PRIVATE_KEYS: is missing'],
    ['no public key', { INTERNAL_TOKEN_PRIVATE_KEYS: `one:${one.secret}` }, 'PUBLIC_KEYS: is missing'],
    [
      'a private key that no public key belongs to',
      { INTERNAL_TOKEN_PUBLIC_KEYS: open, INTERNAL_TOKEN_PRIVATE_KEYS: `one:${two.secret},two:${one.secret}` },
      'PUBLIC_KEYS: lacks the public half of the first key',
    ],
    [
      'a private key with another id',
      { INTERNAL_TOKEN_PUBLIC_KEYS: open, INTERNAL_TOKEN_PRIVATE_KEYS: `two:${one.secret}` },
      'PUBLIC_KEYS: lacks the public half of the first key',
    ],
  ])('%s', async (_what, settings, message) => {
    const error = await tokensOf(settings).catch((thrown: Error) => thrown)
    expect(String(error)).toContain(`configuration: INTERNAL_TOKEN_`)
    expect(String(error)).toContain(message)
    for (const value of Object.values(settings)) expect(String(error)).not.toContain(value.slice(20, 50))
  })
})

test('the first key signs, and its tokens pass where both public keys are set', async () => {
  const tokens = await tokensOf({
    INTERNAL_TOKEN_PUBLIC_KEYS: `one:${one.open},two:${two.open}`,
    INTERNAL_TOKEN_PRIVATE_KEYS: `two:${two.secret},one:${one.secret}`,
  })
  const token = await tokens.signer.ownCall(caller, 'orders', now)
  expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toMatchObject({ kid: 'two' })
  expect(await tokens.verify(token, now)).toMatchObject({ isService: true })
})
