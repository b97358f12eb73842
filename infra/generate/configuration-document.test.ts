import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, SERVICES } from '@backoffice/contracts/services.ts'
import { expect, test } from 'vitest'
import { describedSettings, JOB_SETTINGS, SETTINGS } from './configuration-document.ts'

const ROOT = join(import.meta.dirname, '../..')

const READERS = { ...SETTINGS, ...JOB_SETTINGS }

test.each(Object.entries(READERS))(
  'every setting of %s has a meaning, as sentences that fit into a table',
  (_reader, shape) => {
    for (const { name, meaning } of describedSettings(shape)) {
      expect(meaning, name).toMatch(/^[`A-Z].*[^ ]\.$/)
      expect(meaning, name).not.toMatch(/[|\n]/)
    }
  },
)

test.each(SERVICE_NAMES)('the settings that %s needs are settings that it has', (service) => {
  expect(Object.keys(SETTINGS[service])).toEqual(expect.arrayContaining([...SERVICES[service].settings]))
})

test('passwords, tokens and private keys are secrets, and secrets come from files too', () => {
  const all = Object.values(READERS).flatMap(describedSettings)
  const secrets = all.filter(({ name }) =>
    /PASSWORD|TOKEN$|SECRET|PRIVATE|CHECK_KEYS|TOKEN_KEYS|DATABASE_URL/.test(name),
  )
  expect(secrets.filter(({ isSecret, mayBeFile }) => !isSecret || !mayBeFile)).toEqual([])
})

test('the settings of each job are here', () => {
  const jobs = globSync('base/jobs/*.yaml', { cwd: join(ROOT, 'k8s') })
    .map((file) => /infra\/jobs\/src\/(\w+)\.ts/.exec(readFileSync(join(ROOT, 'k8s', file), 'utf8'))?.[1])
    .filter((job) => job !== undefined)
  expect(Object.keys(JOB_SETTINGS).toSorted()).toEqual([...new Set(jobs)].toSorted())
})

test('settings are read by `readConfig` alone', () => {
  const isCode = (file: string) => !/\.test\.ts$|\/testing\//.test(file)
  const readers = globSync('{libs/*,services/*,infra/jobs}/src/**/*.ts', { cwd: ROOT })
    .filter(isCode)
    .filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('process.env'))
  expect(readers.toSorted()).toEqual([
    'libs/runtime/src/config.ts',
    // Loads the SDK with the other modules, before the configuration is read.
    'libs/runtime/src/telemetry.ts',
    // Passes Node's own compile cache on to its worker.
    'services/catalog/src/assets/image-work.ts',
  ])
})
