import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { IMAGES, ROOT } from '@backoffice/docker/workspaces.ts'
import { composeEnvironment } from '@backoffice/generate/compose-environment.ts'
import { CONFIGS } from '@backoffice/generate/service-configs.ts'
import { DatabasesConfig, SchemasConfig, TopicsConfig } from '@backoffice/jobs/config.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { serviceTokens } from '@backoffice/service/service-tokens.ts'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { connectionOf } from '../cli/command/connection.ts'

interface Compose {
  readonly services: Record<string, ComposeService>
  readonly volumes: Record<string, null>
}
interface ComposeService {
  readonly profiles: string[]
  readonly image: string
  readonly environment?: Record<string, string | number | null>
  readonly build?: { readonly dockerfile: string; readonly target: string }
  readonly depends_on?: Record<string, { readonly condition: string }>
  readonly healthcheck?: object
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly command?: readonly string[]
  readonly init?: boolean
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
const example = composeEnvironment(readFileSync(join(ROOT, '.env.example'), 'utf8'))
const variables = Object.fromEntries([...example.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))

/** The file as docker compose reads it: with the variables of .env, or their defaults. */
const compose: Compose = parse(
  text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, other = '') => {
    const value = variables[name]
    if (value === undefined) throw new Error(`.env.example has no ${name}`)
    if (value === '' && kind === '?') throw new Error(`${name} is empty: ${other}`)
    return value || (kind === '-' ? other : '')
  }),
  { merge: true },
)

const environmentOf = (service: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(compose.services[service]?.environment ?? {}).map(([name, value]) => [name, String(value ?? '')]),
  )

it('docker-compose.yml is what the Compose Specification allows', () => {
  // Its linter brings the specification's schema.
  const file = new URL('schemas/compose.schema.json', import.meta.resolve('dclint/package.json'))
  const { $schema: _, ...schema } = JSON.parse(readFileSync(file, 'utf8'))
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema)
  expect(validate(compose), JSON.stringify(validate.errors)).toBe(true)
})

it('.env.example names every variable, and each has a use', () => {
  for (const name of Object.keys(variables))
    expect(name === 'COMPOSE_PROFILES' || text.includes(`\${${name}`), name).toBe(true)
})

it.each(SERVICE_NAMES)('%s gets all settings that it needs, with keys that belong together', async (name) => {
  const config = readConfig(CONFIGS[name] as never, environmentOf(name))
  await serviceTokens(name, config)
})

it('a setting of a service is known to it, or to another one when several have it', () => {
  const knownTo = (name: ServiceName) => Object.keys(CONFIGS[name].shape)
  const all = SERVICE_NAMES.flatMap((name) => Object.keys(environmentOf(name)).map((setting) => ({ name, setting })))
  for (const [setting, given] of Map.groupBy(all, (each) => each.setting)) {
    const known = given.length === 1 ? given.flatMap(({ name }) => knownTo(name)) : SERVICE_NAMES.flatMap(knownTo)
    expect(known, given[0]?.name).toContain(setting)
  }
})

it('the one-shot commands get what they need', () => {
  readConfig(TopicsConfig, environmentOf('topics'))
  readConfig(SchemasConfig, environmentOf('schemas'))
  for (const job of ['provision', 'migrate']) {
    const settings = environmentOf(job)
    for (const name of Object.keys(DatabasesConfig.shape).filter((each) => each.endsWith('_PASSWORD')))
      expect(settings, name).toHaveProperty(name)
  }
})

it('operators get what leads to the admin API', () => {
  const settings = environmentOf('operator')
  expect(connectionOf(undefined, settings)).toEqual({
    url: `http://gateway:${environmentOf('gateway').ADMIN_PORT}`,
    token: environmentOf('gateway').ADMIN_TOKEN,
  })
})

it('each image is built from its target', () => {
  const targets = Object.values(compose.services).flatMap(({ build }) => build?.target ?? [])
  expect([...new Set(targets)].toSorted()).toEqual(IMAGES)
})

it('no program of ours is PID 1, which ignores SIGTERM without a handler', () => {
  const ours = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('backoffice/'))
  expect(ours.filter(([, { init }]) => !init).map(([name]) => name)).toEqual([])
})

it('a service that others wait for has a health check or ends, and is in the same profile', () => {
  for (const [name, { depends_on = {}, profiles }] of Object.entries(compose.services)) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const waited = compose.services[other]
      expect(waited?.profiles, `${name} → ${other}`).toEqual(profiles)
      if (condition === 'service_healthy') expect(waited?.healthcheck, other).toBeDefined()
    }
  }
})

it('every address in a setting is of a service in the same profile: core starts without observability', () => {
  const addresses = /(?:^|,|\/\/(?:[^/@]*@)?)([a-z][a-z-]*):\d{4}(?=[/,]|$)/g
  let found = 0
  for (const [name, { profiles }] of Object.entries(compose.services)) {
    for (const [setting, value] of Object.entries(environmentOf(name))) {
      if (/KEYS$|TOKEN$|PASSWORD$/.test(setting)) continue
      for (const [, host = ''] of value.matchAll(addresses)) {
        if (host === 'localhost') continue
        found++
        expect(compose.services[host]?.profiles, `${name}: ${setting}`).toEqual(profiles)
      }
    }
  }
  expect(found).toBeGreaterThan(SERVICE_NAMES.length * 4)
})

it.each(['catalog', 'imports'])('%s has its uploads on a disk, not in memory', (name) => {
  const { tmpfs, volumes } = compose.services[name] ?? {}
  expect([tmpfs, volumes]).toEqual([[], [`${name}-uploads:/tmp`]])
})

it('what is mounted is there: files of the repository, and volumes that are declared', () => {
  const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((each) => each.split(':')[0]),
  )
  const [files, volumes] = [
    sources.filter((each) => each?.startsWith('./')),
    sources.filter((each) => !each?.startsWith('.')),
  ]
  for (const file of files) expect(existsSync(join(ROOT, file ?? '')), file).toBe(true)
  expect(volumes.toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
  const collector = compose.services['otel-collector']
  expect(collector?.volumes?.[0]?.split(':')[1]).toBe(collector?.command?.[0]?.replace('--config=', ''))
})

it('PostgreSQL looks often at tables that grow, as docs/operations.md asks', () => {
  expect(compose.services.postgres?.command).toContain('autovacuum_naptime=5s')
})

it('the one-shot commands are programs that are there', () => {
  for (const job of ['provision', 'migrate', 'topics', 'schemas'])
    expect(existsSync(join(ROOT, compose.services[job]?.command?.[1] ?? 'none')), job).toBe(true)
})

it('the backing services have the versions that tests run in containers', () => {
  const tested = readFileSync(join(ROOT, 'libs/testing/src/servers/containers.ts'), 'utf8')
  for (const name of ['postgres', 'kafka', 'schema-registry'])
    expect(tested).toContain(`GenericContainer('${compose.services[name]?.image}')`)
})
