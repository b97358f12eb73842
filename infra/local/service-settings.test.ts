import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { rolePasswords, stackSecrets } from './secrets.ts'
import { settingsOf } from './service-settings.ts'

test('the environment sets every setting of the stack, but each service keeps its own roles and the backing services', () => {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'))
  whenDone(() => rmSync(directory, { recursive: true }))
  const stack = {
    directory,
    postgres: 'postgres://postgres:x@db/shop',
    kafka: ['127.0.0.1:9092'],
    registry: 'http://registry',
    secrets: stackSecrets(directory),
    urls: { gateway: 'http://127.0.0.1:8080' },
  }
  for (const name of SERVICE_NAMES) {
    const own = settingsOf(name, stack)
    const environment = Object.fromEntries(Object.keys(own).map((setting) => [setting, `other ${setting}`]))
    const { DATABASE_URL, WORKER_DATABASE_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = own
    const kept = { DATABASE_URL, WORKER_DATABASE_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL }
    expect(settingsOf(name, stack, environment)).toEqual({ ...environment, ...kept })
    expect(settingsOf(name, stack, { ADMIN_TOKEN: '', PLATFORM_ISSUER: '' })).toEqual(own)
  }
  expect(settingsOf('apps', stack, { PLATFORM_ISSUER: 'https://issuer.test' })).toMatchObject({
    PLATFORM_ISSUER: 'https://issuer.test',
  })
})

test('no two roles have one password, and no service gets that of another or of the migrations', () => {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'))
  whenDone(() => rmSync(directory, { recursive: true }))
  const secrets = stackSecrets(directory)
  const stack = { directory, postgres: 'postgres://postgres:x@db/shop', kafka: [], registry: '', secrets, urls: {} }
  const given = SERVICE_NAMES.flatMap((name) => {
    const { DATABASE_URL = '', WORKER_DATABASE_URL = '' } = settingsOf(name, stack)
    return [new URL(DATABASE_URL).password, new URL(WORKER_DATABASE_URL).password]
  })
  const passwords = new Set([...given, rolePasswords(secrets)('backoffice_migrator'), secrets.rolePasswordSeed])
  expect(passwords.size).toBe(2 * SERVICE_NAMES.length + 2)
  // A restart of the stack gives the roles the same passwords.
  expect(stackSecrets(directory)).toEqual(secrets)
})
