import { rootCertificates } from 'node:tls'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { ProcessConfig, readConfig } from '@backoffice/runtime/config.ts'
import { TOKEN_SETTINGS } from '@backoffice/testing/caller.ts'
import { expect, expectTypeOf, test } from 'vitest'
import { serviceConfig } from './service-config.ts'

const PROCESS = Object.keys(ProcessConfig.shape)
const DATABASES = ['DATABASE_URL', 'DATABASE_CA', 'WORKER_DATABASE_URL', 'DATABASE_POOL_SIZE']
const VERIFYING = ['INTERNAL_TOKEN_PUBLIC_KEYS']
const SIGNING = ['INTERNAL_TOKEN_PRIVATE_KEYS']
const LOGIN = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD']
const KAFKA = ['KAFKA_BROKERS', 'KAFKA_PREFIX', 'KAFKA_TLS', 'KAFKA_CA', ...LOGIN]
const REGISTRY = ['URL', 'USERNAME', 'PASSWORD', 'CA'].map((name) => `SCHEMA_REGISTRY_${name}`)
const settingsOf = (name: (typeof SERVICE_NAMES)[number]) => Object.keys(serviceConfig(name).shape)

test('every service has a process and databases', () => {
  for (const name of SERVICE_NAMES) expect(settingsOf(name)).toEqual(expect.arrayContaining([...PROCESS, ...DATABASES]))
})

test.each([
  ['publishes, consumes and calls', 'collections', [...SIGNING, ...KAFKA, ...REGISTRY, 'CATALOG_URL']],
  ['publishes and consumes', 'catalog', [...KAFKA, ...REGISTRY]],
  ['only consumes', 'webhook-delivery', KAFKA],
] as const)('a service that %s has the settings for that', (_what, name, settings) => {
  expect(settingsOf(name)).toEqual([...PROCESS, ...DATABASES, ...VERIFYING, ...settings])
})

test('the gateway has the URL of every service with routes, and signs', () => {
  expect(settingsOf('gateway')).toEqual(
    expect.arrayContaining([...SIGNING, 'CATALOG_URL', 'COLLECTIONS_URL', 'WEBHOOK_DELIVERY_URL']),
  )
})

const CATALOG = {
  ...TOKEN_SETTINGS,
  DATABASE_URL: 'postgres://db/app',
  WORKER_DATABASE_URL: 'postgres://db/app',
  KAFKA_BROKERS: 'kafka:9092',
  SCHEMA_REGISTRY_URL: 'http://registry',
}

test.each<[string, Record<string, string>]>([
  ['KAFKA_SASL_PASSWORD: is missing', { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'one' }],
  ['KAFKA_SASL_MECHANISM: is missing', { KAFKA_SASL_PASSWORD: 'secret' }],
  ['KAFKA_TLS: must be true', { KAFKA_CA: rootCertificates[0] ?? '' }],
  ['SCHEMA_REGISTRY_PASSWORD: is missing', { SCHEMA_REGISTRY_USERNAME: 'one' }],
  ['SCHEMA_REGISTRY_USERNAME: is missing', { SCHEMA_REGISTRY_PASSWORD: 'secret' }],
  ['SCHEMA_REGISTRY_URL: must begin with https', { SCHEMA_REGISTRY_CA: rootCertificates[0] ?? '' }],
  ['DATABASE_CA: must be certificates in PEM', { DATABASE_CA: 'secret' }],
])('refuses settings that would leave connections less secure than they look: %s', (message, settings) => {
  const read = () => readConfig(serviceConfig('catalog'), { ...CATALOG, ...settings })
  expect(read).toThrow(message)
  expect(read).not.toThrow('secret')
})

test.each<[string, Record<string, string>]>([
  ['DATABASE_URL: is no URL that begins with postgres://', { DATABASE_URL: 'localhost:5432/app' }],
  ['DATABASE_URL: has an IPv6 address: give the server a name', { DATABASE_URL: 'postgres://app@[::1]:5432/app' }],
  ['WORKER_DATABASE_URL: is no URL that begins with postgres://', { WORKER_DATABASE_URL: 'http://db/app' }],
  ['KAFKA_BROKERS.1: is not host:port', { KAFKA_BROKERS: 'kafka-1:9092,kafka-2' }],
  ['KAFKA_BROKERS: ', { KAFKA_BROKERS: ' ,' }],
  ['SCHEMA_REGISTRY_URL: is no URL that begins with http://', { SCHEMA_REGISTRY_URL: 'registry:8080' }],
  ['CATALOG_URL: is no URL that begins with http://', { CATALOG_URL: 'catalog:8080' }],
  ['STOP_DELAY: is longer than 24 days', { STOP_DELAY: '600h' }],
])('refuses addresses and times that nothing could be reached by, or wait for: %s', (message, settings) => {
  const environment = { ...CATALOG, CATALOG_URL: 'http://catalog', ...settings }
  expect(() => readConfig(serviceConfig('collections'), environment)).toThrow(message)
})

test('the types follow the rows', () => {
  expectTypeOf(serviceConfig('collections').parse).returns.toHaveProperty('CATALOG_URL').toBeString()
  expectTypeOf(serviceConfig('webhook-delivery').parse).returns.not.toHaveProperty('SCHEMA_REGISTRY_URL')
  expectTypeOf(serviceConfig('catalog').parse).returns.not.toHaveProperty('INTERNAL_TOKEN_PRIVATE_KEYS')
  expectTypeOf(serviceConfig('gateway').parse).returns.toHaveProperty('WEBHOOK_DELIVERY_URL').toBeString()
})
