import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { expect, expectTypeOf, test } from 'vitest'
import { serviceConfig } from './service-config.ts'

const PROCESS = ['HOST', 'PORT', 'OPS_PORT', 'LOG_LEVEL']
const DATABASES = ['DATABASE_URL', 'WORKER_DATABASE_URL']
const KAFKA = ['KAFKA_BROKERS', 'KAFKA_PREFIX']
const settingsOf = (name: (typeof SERVICE_NAMES)[number]) => Object.keys(serviceConfig(name).shape)

test('every service has a process and databases', () => {
  for (const name of SERVICE_NAMES) expect(settingsOf(name)).toEqual(expect.arrayContaining([...PROCESS, ...DATABASES]))
})

test.each([
  ['publishes, consumes and calls', 'collections', [...KAFKA, 'SCHEMA_REGISTRY_URL', 'CATALOG_URL']],
  ['publishes and consumes', 'catalog', [...KAFKA, 'SCHEMA_REGISTRY_URL']],
  ['only consumes', 'webhook-delivery', KAFKA],
] as const)('a service that %s has the settings for that and the token key', (_what, name, settings) => {
  expect(settingsOf(name)).toEqual([...PROCESS, ...DATABASES, 'INTERNAL_TOKEN_PUBLIC_KEY', ...settings])
})

test('the gateway has the URL of every service with routes, and no token key', () => {
  expect(settingsOf('gateway')).toEqual(
    expect.arrayContaining(['CATALOG_URL', 'COLLECTIONS_URL', 'WEBHOOK_DELIVERY_URL']),
  )
  expect(settingsOf('gateway')).not.toEqual(expect.arrayContaining(['INTERNAL_TOKEN_PUBLIC_KEY']))
})

test('the types follow the rows', () => {
  expectTypeOf(serviceConfig('collections').parse).returns.toHaveProperty('CATALOG_URL').toBeString()
  expectTypeOf(serviceConfig('webhook-delivery').parse).returns.not.toHaveProperty('SCHEMA_REGISTRY_URL')
  expectTypeOf(serviceConfig('gateway').parse).returns.not.toHaveProperty('INTERNAL_TOKEN_PUBLIC_KEY')
  expectTypeOf(serviceConfig('gateway').parse).returns.toHaveProperty('WEBHOOK_DELIVERY_URL').toBeString()
})
