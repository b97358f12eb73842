import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { passwordSetting } from '@backoffice/jobs/config.ts'
import { rolePasswords, stackSecrets } from '@backoffice/local/secrets.ts'
import { settingsOf } from '@backoffice/local/service-settings.ts'
import { MIGRATOR } from '@backoffice/postgres/provision.ts'
import { type Reader, secretKeys, settingsIn } from './settings.ts'

/*
 * `npm run --silent kubernetes:secrets`: prints the Secrets of the overlay `local`, for `kubectl apply -f -`. The first
 * run makes passwords and keys and keeps them, so that a repetition prints the same.
 */

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The Secrets of the overlay `local` by name, from the passwords and keys in a folder, made when missing. */
export function localSecrets(directory: string): Secrets {
  mkdirSync(directory, { recursive: true })
  const secrets = stackSecrets(directory)
  const password = passwordIn(directory)
  const postgres = `postgres://postgres:${password}@postgresql:5432/backoffice`
  const passwordOf = rolePasswords(secrets)
  const roles = [MIGRATOR, ...SERVICE_NAMES.map(schemaOf).flatMap((schema) => [schema, `${schema}_worker`])]
  const provision = {
    ADMIN_DATABASE_URL: postgres,
    ROLE_PASSWORDS: JSON.stringify(Object.fromEntries(roles.map((role) => [role, passwordOf(role)]))),
  }
  const migrate = {
    ADMIN_DATABASE_URL: 'postgres://postgresql:5432/backoffice',
    [passwordSetting(MIGRATOR)]: passwordOf(MIGRATOR),
  }
  const stack = { directory, postgres, kafka: [], registry: '', secrets, urls: {} }
  const services = SERVICE_NAMES.map((name) => [name, keysOf(name, settingsOf(name, stack))] as const)
  const operator = { BACKOFFICE_TOKEN: settingsOf('gateway', stack).ADMIN_TOKEN ?? '' }
  return { postgresql: { password }, provision, migrate, jobs: {}, operator, ...Object.fromEntries(services) }
}

/** The values for the keys that the reader's settings name. A key without a value is left out. */
const keysOf = (reader: Reader, values: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    secretKeys(settingsIn('local', reader)).flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
  )

/** The password of PostgreSQL's superuser. */
function passwordIn(directory: string): string {
  const file = join(directory, 'postgresql-password')
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}

if (import.meta.main) {
  const items = Object.entries(localSecrets(join(import.meta.dirname, '../../.local/kubernetes'))).map(
    ([name, stringData]) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'backoffice', labels: { 'app.kubernetes.io/part-of': 'backoffice' } },
      stringData,
    }),
  )
  console.log(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2))
}
