import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import {
  calledBy,
  consumersOf,
  SERVICE_NAMES,
  SERVICES,
  type ServiceName,
  schemaOf,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import { IMAGES } from '@backoffice/docker/workspaces.ts'
import { CONFIGS, POOLS } from '@backoffice/generate/service-configs.ts'
import { DatabasesConfig, SchemasConfig, TopicsConfig } from '@backoffice/jobs/config.ts'
import { readDatabases } from '@backoffice/jobs/databases.ts'
import { MIGRATOR } from '@backoffice/postgres/provision.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { CHECKS } from '@backoffice/service/checks/check-run.ts'
import { connectionsOf } from '@backoffice/service/service-pools.ts'
import { serviceTokens } from '@backoffice/service/service-tokens.ts'
import { afterAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { MEMORY_MIB, RESERVED_BY_NODE_MIB, SLOTS } from '../../services/catalog/src/assets/image-work.ts'
import { UPLOADS as ASSETS } from '../../services/catalog/src/assets/upload-asset.ts'
import { UPLOADS as IMPORTS } from '../../services/imports/src/imports/upload-import.ts'
import { FILE_BYTES } from '../../services/imports/src/rows/row-pages.ts'
import { PLACES } from '../../services/imports/src/validation/places.ts'
import { checks } from '../cli/commands/checks.ts'
import { localSecrets } from './local-secrets.ts'
import { JOB_SECRETS, K8S, type Reader, readSettings, SECRETS_FOLDER, secretKeys, settingsIn } from './settings.ts'

const OVERLAYS = ['local', 'production']

const folder = mkdtempSync(join(tmpdir(), 'backoffice-manifests-'))
afterAll(() => rmSync(folder, { recursive: true }))
/** What production has besides the secrets of the local overlay. */
const FURTHER = {
  DATABASE_CA: rootCertificates[0],
  KAFKA_CA: rootCertificates[0],
  KAFKA_SASL_PASSWORD: 'secret',
  RATE_LIMIT_URL: 'rediss://:secret@valkey:6379',
  SCHEMA_REGISTRY_CA: rootCertificates[0],
  SCHEMA_REGISTRY_PASSWORD: 'secret',
}

const manifest = <Shape>(path: string) => parse(readFileSync(join(K8S, path), 'utf8')) as Shape
const knownTo = (name: ServiceName) => Object.keys(CONFIGS[name].shape)
/** The names of settings in a file, without the `_FILE` of those that lead to a Secret. */
const settingNames = (path: string) =>
  Object.entries(readSettings(path)).map(([name, value]) =>
    value.startsWith(SECRETS_FOLDER) ? name.replace(/_FILE$/, '') : name,
  )

/** The environment of a pod, whose Secret is in a folder of this machine. */
function environment(overlay: string, name: Reader): NodeJS.ProcessEnv {
  const settings = settingsIn(overlay, name)
  const secret: Readonly<Record<string, string | undefined>> = { ...localSecrets(folder)[name], ...FURTHER }
  for (const key of secretKeys(settings)) {
    if (secret[key] !== undefined) writeFileSync(join(folder, `${name}-${key}`), secret[key])
  }
  const inFolder = (value: string) => value.replace(`${SECRETS_FOLDER}/`, join(folder, `${name}-`))
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, inFolder(value)]))
}

const environmentValue = (overlay: string, name: Reader, setting: string) =>
  readFileSync(environment(overlay, name)[`${setting}_FILE`] ?? '', 'utf8')

test.each(OVERLAYS.flatMap((overlay) => SERVICE_NAMES.map((name) => [overlay, name] as const)))(
  'the settings and the Secret of %s are all that %s needs for its start',
  async (overlay, name) => {
    const config = readConfig(CONFIGS[name], environment(overlay, name))
    await expect(serviceTokens(name, config)).resolves.toBeDefined()
  },
)

interface Job {
  readonly spec: {
    readonly backoffLimit?: number
    readonly ttlSecondsAfterFinished?: number
    readonly template: { readonly spec: { readonly containers: readonly [{ readonly command: string[] }] } }
  }
}

const programOf = ({ spec }: Job) => spec.template.spec.containers[0].command

const documents = (path: string) =>
  parseAllDocuments(readFileSync(join(K8S, path), 'utf8')).map((document) => document.toJS() as unknown)

test('the jobs run programs that are there, and migrate each service', () => {
  const jobs = ['migrate', 'topics', 'schemas'].flatMap((file) => documents(`base/jobs/${file}.yaml`) as Job[])
  const byHand = ['provision', 'topics-fix'].map((file) => manifest<CronJob>(`base/jobs/${file}.yaml`))
  const commands = [...jobs, ...byHand.map(({ spec }) => spec.jobTemplate)].map(programOf)
  for (const [, program = ''] of commands) expect(existsSync(join(K8S, '..', program))).toBe(true)
  const migrated = commands.flatMap(([, , service = '--']) => (service.startsWith('--') ? [] : service))
  expect(migrated.toSorted()).toEqual(SERVICE_NAMES.toSorted())
})

test('what topics --fix refuses it does not try again', () => {
  const { spec } = manifest<CronJob>('base/jobs/topics-fix.yaml')
  expect(spec.jobTemplate.spec.backoffLimit).toBe(0)
  // A patch of all commands would come after it.
  expect(manifest<CronJob>('base/jobs/every-command.yaml').spec.jobTemplate.spec.backoffLimit).toBeUndefined()
})

test.each(OVERLAYS)('the jobs of %s have settings that they accept', (overlay) => {
  readConfig(TopicsConfig, environment(overlay, 'jobs'))
  readConfig(SchemasConfig, environment(overlay, 'jobs'))
})

test('migrations know the password of the role that owns the tables, and no other', () => {
  const { adminUrlOf, passwordOf } = readDatabases(environment('local', 'migrate'))
  const provisioned = readDatabases(environment('local', 'provision'))
  expect(passwordOf(MIGRATOR)).toBe(provisioned.passwordOf(MIGRATOR))
  for (const name of SERVICE_NAMES) {
    const { host, username, password } = new URL(adminUrlOf(name))
    expect([host, username, password]).toEqual([new URL(provisioned.adminUrlOf(name)).host, '', ''])
    expect(() => passwordOf(schemaOf(name))).toThrow('is missing')
  }
})

test('provision has a password for every role', () => {
  const { adminUrlOf, passwordOf } = readDatabases(environment('local', 'provision'))
  for (const name of SERVICE_NAMES) {
    const { username, password, host } = new URL(environmentValue('local', name, 'WORKER_DATABASE_URL'))
    expect(passwordOf(username)).toBe(password)
    expect(new URL(adminUrlOf(name)).host).toBe(host)
  }
})

/** The keys of a Secret by the table of the README, but those that a cloud makes needless. */
function keysInReadme(name: Reader): string[] {
  const readme = readFileSync(join(K8S, 'README.md'), 'utf8')
  return [...readme.matchAll(/^\| (.+?) \| (.+?) \|$/gm)].flatMap(([, names = '', keys = '']) => {
    const isNamed = names.includes(`\`${name}\``)
    const isMeant = names.startsWith('every service')
      ? SERVICE_NAMES.some((each) => each === name) && !isNamed
      : isNamed
    return isMeant ? [...keys.matchAll(/`((?!AWS_)[A-Z_]+)`/g)].map(([, key = '']) => key) : []
  })
}

const JOB_SETTINGS = {
  provision: Object.keys(DatabasesConfig.shape),
  migrate: Object.keys(DatabasesConfig.shape),
  jobs: [TopicsConfig, SchemasConfig].flatMap(({ shape }) => Object.keys(shape)),
}

test.each([...SERVICE_NAMES, ...JOB_SECRETS])(
  'the README names each key that the Secret of %s needs, and no other',
  (name) => {
    const known = name in JOB_SETTINGS ? JOB_SETTINGS[name as keyof typeof JOB_SETTINGS] : knownTo(name as ServiceName)
    const keys = secretKeys(settingsIn('production', name)).filter((key) => known.includes(key))
    expect(keysInReadme(name).toSorted()).toEqual(keys.toSorted())
  },
)

test('a setting of all services is known to one of them', () => {
  const known = SERVICE_NAMES.flatMap(knownTo)
  const paths = [...OVERLAYS.map((overlay) => `overlays/${overlay}/settings.env`), 'base/settings.env']
  const names = [...paths, 'components/telemetry/settings.env'].flatMap(settingNames)
  expect(names.filter((name) => !known.includes(name))).toEqual([])
})

test.each(SERVICE_NAMES)('%s knows each setting of its own', (name) => {
  const paths = [`base/${name}/settings.env`, ...OVERLAYS.map((overlay) => `overlays/${overlay}/${name}.env`)]
  expect(knownTo(name)).toEqual(expect.arrayContaining(paths.flatMap(settingNames)))
})

test.each(SERVICE_NAMES)('the settings of %s alone reach its pods', (name) => {
  const { configMapGenerator = [] } = manifest<Kustomization>(`base/${name}/kustomization.yaml`)
  const [{ envFrom }] = podOf(name).containers
  const isMade = existsSync(join(K8S, `base/${name}/settings.env`))
  expect(configMapGenerator).toEqual(isMade ? [{ name, envs: ['settings.env'] }] : [])
  // Its own come last: they win.
  const shared = { configMapRef: { name: 'backoffice' } }
  expect(envFrom).toEqual(isMade ? [shared, { configMapRef: { name } }] : [shared])
  for (const overlay of OVERLAYS) {
    const generators = manifest<Kustomization>(`overlays/${overlay}/kustomization.yaml`).configMapGenerator ?? []
    const files = existsSync(join(K8S, `overlays/${overlay}/${name}.env`)) ? [`${name}.env`] : []
    expect(generators.filter((each) => each.name === name).flatMap(({ envs }) => envs)).toEqual(files)
  }
})

test('the README says how many connections PostgreSQL needs for the most replicas, by the formula of the guide', () => {
  const guide = readFileSync(join(K8S, '../docs/operations.md'), 'utf8')
  const size = (setting: string) => Number(RegExp(`^${setting} = (\\d+)$`, 'm').exec(guide)?.[1])
  const { maxReplicas } = manifest<{ spec: { maxReplicas: number } }>('base/every-service/autoscaler.yaml').spec
  const each = SERVICE_NAMES.map((name) => connectionsOf(name, POOLS[name], 10))
  const sum = (kind: 'app' | 'worker') =>
    2 * maxReplicas * each.reduce((all, connections) => all + connections[kind], 0)
  const further = SERVICE_NAMES.length + 3 + 10
  const pooled = SERVICE_NAMES.length * (size('default_pool_size') + size('reserve_pool_size'))
  const [all, withPooler] = [sum('worker') + sum('app') + further, sum('worker') + pooled + further]
  expect(readFileSync(join(K8S, 'README.md'), 'utf8')).toMatch(
    `${all.toLocaleString('en')} for six replicas of each service, the autoscalers' maximum; ${withPooler} with one PgBouncer`,
  )
})

test('gateways that start without the server of the rate limits count with as many as the autoscaler keeps', () => {
  const { spec } = manifest<{ spec: { minReplicas: number } }>('base/every-service/autoscaler.yaml')
  expect(environment('production', 'gateway').RATE_LIMIT_GATEWAYS).toBe(String(spec.minReplicas))
})

interface CronJob {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly jobTemplate: Job }
}

const operatorCommands = ['commands', 'checks'].flatMap((file) => documents(`base/operator/${file}.yaml`) as CronJob[])

test('operators start every check as a job of its own, and a pod for other commands', async () => {
  const { subCommands = {} } = checks
  expect(Object.keys(await subCommands)).toEqual([...Object.keys(CHECKS), 'list', 'show'])
  expect(operatorCommands.map(({ metadata, spec }) => [metadata.name, programOf(spec.jobTemplate)])).toEqual([
    ['operator', ['sleep', 'infinity']],
    ...Object.keys(CHECKS).map((name) => [name, ['backoffice', 'checks', name]]),
  ])
})

test('checks have the token of an operator, which the Secret has and the README names; other commands have none', () => {
  const { spec } = manifest<CronJob>('base/operator/check-token.yaml')
  const [{ env }] = (spec.jobTemplate as unknown as Deployment).spec.template.spec.containers
  const variable = { name: 'BACKOFFICE_TOKEN_FILE', value: `${SECRETS_FOLDER}/BACKOFFICE_TOKEN` }
  expect(env).toEqual([variable])
  expect(Object.keys(localSecrets(folder).operator ?? {})).toEqual(['BACKOFFICE_TOKEN'])
  expect(readFileSync(join(K8S, 'README.md'), 'utf8')).toContain('| `operator` | `BACKOFFICE_TOKEN`')
  const { patches } = manifest<{ patches: { path: string; target: { name?: string } }[] }>(
    'base/operator/kustomization.yaml',
  )
  const target = patches.find(({ path }) => path === 'check-token.yaml')?.target.name
  const names = operatorCommands.map(({ metadata }) => metadata.name)
  expect(names.filter((name) => RegExp(`^(?:${target})$`).test(name))).toEqual(Object.keys(CHECKS))
})

test('the pod for other commands is gone when it ends, so that its name is free; checks stay for their log', () => {
  const secondsIn = (path: string) => (documents(path)[0] as CronJob).spec.jobTemplate.spec.ttlSecondsAfterFinished
  expect(secondsIn('base/operator/commands.yaml')).toBe(0)
  // Patches of it.
  expect(secondsIn('base/every-command/every-cron-job.yaml')).toBeUndefined()
  expect(secondsIn('base/operator/command-line.yaml')).toBeUndefined()
  expect(secondsIn('base/operator/check-token.yaml')).toBe(86_400)
})

test('the settings of operators lead to the admin API', () => {
  const settings = readSettings('base/operator/settings.env')
  const adminService = manifest<AdminService>('base/gateway/admin-service.yaml')
  const { port } = adminService.spec.ports[0]
  expect(settings.BACKOFFICE_URL).toBe(`http://${adminService.metadata.name}:${port}`)
  expect(settings.BACKOFFICE_API_URL).toBe(`http://gateway:${portOf('every-service', 'http')}`)
})

interface AdminService {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly ports: readonly [{ readonly port: number }] }
}

interface Deployment {
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly shareProcessNamespace?: boolean
  readonly containers: readonly [
    {
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
      readonly env: readonly EnvironmentVariable[]
      readonly envFrom: readonly unknown[]
      readonly resources: { readonly requests?: Resources; readonly limits: Resources }
    },
  ]
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit: string } }[]
}
interface Resources {
  readonly memory: string
  readonly 'ephemeral-storage': string
}
interface EnvironmentVariable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } }
}
const podOf = (folderName: string) => manifest<Deployment>(`base/${folderName}/deployment.yaml`).spec.template.spec
const portOf = (folderName: string, port: string) =>
  podOf(folderName).containers[0].ports.find(({ name }) => name === port)?.containerPort

test('ports are those of the settings', () => {
  const { PORT, OPS_PORT = PORT + 1, ADMIN_PORT } = readConfig(CONFIGS.gateway, environment('production', 'gateway'))
  expect(portOf('every-service', 'http')).toBe(PORT)
  expect(portOf('every-service', 'operations')).toBe(OPS_PORT)
  expect(portOf('gateway', 'admin')).toBe(ADMIN_PORT)
})

test('traces name the pod and the version of a replica', () => {
  const known: Record<string, string> = {}
  for (const { name, value, valueFrom } of podOf('every-service').containers[0].env) {
    // As Kubernetes does, with the variables before.
    known[name] =
      valueFrom?.fieldRef.fieldPath ?? value?.replaceAll(/\$\((\w+)\)/g, (all, other) => known[other] ?? all) ?? ''
  }
  const { OTEL_RESOURCE_ATTRIBUTES } = readConfig(CONFIGS.orders, { ...environment('production', 'orders'), ...known })
  expect(OTEL_RESOURCE_ATTRIBUTES).toEqual({
    'service.version': "metadata.labels['app.kubernetes.io/version']",
    'service.instance.id': 'metadata.name',
    'k8s.pod.name': 'metadata.name',
    'k8s.namespace.name': 'metadata.namespace',
  })
})

test.each(OVERLAYS)('a pod of %s has a version', (overlay) => {
  const { labels } = manifest<Kustomization>(`overlays/${overlay}/kustomization.yaml`)
  expect(labels).toContainEqual({
    pairs: { 'app.kubernetes.io/version': expect.stringMatching(/./) },
    includeTemplates: true,
  })
})

test.each(OVERLAYS)('a pod of %s has the time that its stop takes', (overlay) => {
  const { STOP_DELAY } = readConfig(CONFIGS.orders, environment(overlay, 'orders'))
  const { terminationGracePeriodSeconds } = podOf('every-service')
  // What runProcess stops with.
  expect(terminationGracePeriodSeconds * 1000).toBeGreaterThan(STOP_DELAY + 25_000)
})

test('no program is PID 1, which ignores SIGTERM without a handler', () => {
  const { spec: job } = manifest<Deployment>('base/jobs/every-job.yaml')
  const { spec } = manifest<{ spec: { jobTemplate: Deployment } }>('base/every-command/every-cron-job.yaml')
  for (const pod of [podOf('every-service'), job.template.spec, spec.jobTemplate.spec.template.spec])
    expect(pod.shareProcessNamespace).toBe(true)
})

interface NetworkPolicy {
  readonly spec: {
    readonly podSelector: Selector
    readonly ingress?: readonly {
      readonly from: readonly Peer[]
      readonly ports: readonly [{ readonly port: number }]
    }[]
    readonly egress?: readonly { readonly to: readonly Peer[] }[]
  }
}
interface Selector {
  readonly matchExpressions?: readonly { readonly values: readonly string[] }[]
}
interface Peer {
  readonly podSelector: Selector
  readonly ipBlock?: { readonly except?: readonly string[] }
}
const namesIn = ({ matchExpressions = [] }: Selector) => matchExpressions.flatMap(({ values }) => values).toSorted()
const peers = (rules: readonly Peer[] = []) => rules.flatMap(({ podSelector }) => namesIn(podSelector))

const callsOf = (name: ServiceName): readonly ServiceName[] => calledBy(name)

test.each(SERVICE_NAMES)('%s knows the URLs of those that it calls, and of no other service', (name) => {
  const known = SERVICE_NAMES.filter((other) => knownTo(name).includes(urlSetting(other)))
  expect(known.toSorted()).toEqual(callsOf(name).toSorted())
})

test.each(SERVICE_NAMES)('the network lets %s call those it calls, and be called by its callers', (name) => {
  const { spec } = manifest<NetworkPolicy>(`base/${name}/network-policy.yaml`)
  const callers = SERVICE_NAMES.filter((caller) => callsOf(caller).includes(name))
  const onPublicPort = spec.ingress?.filter(({ ports }) => ports[0].port === portOf('every-service', 'http'))
  expect(peers(onPublicPort?.flatMap(({ from }) => from))).toEqual(callers.toSorted())
  expect(peers(spec.egress?.flatMap(({ to }) => to))).toEqual(callsOf(name).toSorted())
})

const migrations = SERVICE_NAMES.map((name) => `migrate-${name}`)
const knowing = (setting: string): string[] => SERVICE_NAMES.filter((name) => knownTo(name).includes(setting))
test.each([
  ['postgresql', [...SERVICE_NAMES, ...migrations, 'provision']],
  ['kafka', [...SERVICE_NAMES, 'topics', 'topics-fix']],
  ['schema-registry', [...SERVICE_NAMES.filter((name) => SERVICES[name].publishes.length > 0), 'schemas']],
  ['object-storage', knowing('S3_ENDPOINT')],
  ['internet', knowing('EGRESS_PROXY_URL')],
])('only pods that need it reach %s', (policy, names) => {
  const { spec } = manifest<NetworkPolicy>(`base/network/${policy}.yaml`)
  expect(namesIn(spec.podSelector)).toEqual(names.toSorted())
})

test('buckets with public addresses are reached at no private one', () => {
  const [internet, buckets] = ['base/network/internet.yaml', 'overlays/production/object-storage.yaml'].map((path) => {
    const [rule] = manifest<NetworkPolicy>(path).spec.egress ?? []
    return rule?.to[0]?.ipBlock?.except
  })
  expect(internet).toContain('10.0.0.0/8')
  expect(buckets).toEqual(internet)
})

test.each(['ingress/ingress.yaml', 'gateway-api/routes.yaml'])(
  '%s leads to the public port of the gateway only',
  (path) => {
    const [routes] = parseAllDocuments(readFileSync(join(K8S, 'components', path), 'utf8'))
    const text = JSON.stringify(routes?.toJS())
    expect(text).toMatch(/"port":(8080|\{"name":"http"\})/)
    expect(text).not.toMatch(/admin|internal|8081|8090|operations/)
  },
)

test.each(['ingress/ingress.yaml', 'gateway-api/routes.yaml'])(
  '%s leads to all that clients and browsers ask for',
  (path) => {
    const text = readFileSync(join(K8S, 'components', path), 'utf8')
    const paths = [...text.matchAll(/(?:path|value): (\/[\w./-]*)/g)].map(([, found]) => found)
    const asked = ['/v1', '/assets', '/apps', '/.well-known', '/console', '/docs', '/openapi.json']
    expect(paths.toSorted()).toEqual(asked.toSorted())
  },
)

test.each(['ingress', 'gateway-api'])(
  'with %s an authority can ask the pods of cert-manager for a certificate',
  (name) => {
    const policies = documents(`components/${name}/network-policy.yaml`) as NetworkPolicy[]
    const challenges = { 'acme.cert-manager.io/http01-solver': 'true' }
    expect(policies.map(({ spec }) => [spec.podSelector, spec.ingress?.[0]?.ports])).toContainEqual([
      { matchLabels: challenges },
      [{ port: 8089 }],
    ])
  },
)

test('the local Ingress lets uploads through', () => {
  const patches = manifest<{ path: string; value?: unknown }[]>('overlays/local/ingress.yaml')
  expect(patches.find(({ path }) => path === '/metadata/annotations')?.value).toMatchObject({
    'nginx.ingress.kubernetes.io/proxy-body-size': '0',
  })
})

test('a pod of catalog has room for the images that it works on, so that none of them ends the service', () => {
  const [, gibibytes] = /^(\d+)Gi$/.exec(podOf('catalog').containers[0].resources.limits.memory) ?? []
  const ofImages = SLOTS.slots * (MEMORY_MIB - RESERVED_BY_NODE_MIB)
  expect(Number(gibibytes) * 1024 - ofImages).toBeGreaterThan(512)
})

test.each([
  ['catalog', ASSETS.slots * LIMITS.assetBytes, ASSETS.most * LIMITS.assetBytes],
  ['imports', IMPORTS.slots * LIMITS.importBytes + PLACES * FILE_BYTES, IMPORTS.most * LIMITS.importBytes + FILE_BYTES],
] as const)(
  'a pod of %s has room for all its files, so that it is not evicted, and asks for that of a workspace',
  (name, all, ofOne) => {
    const { containers, volumes } = podOf(name)
    const gibibytes = (text = '') => Number(/^(\d+)Gi$/.exec(text)?.[1])
    const room = gibibytes(volumes.find((volume) => volume.name === 'tmp')?.emptyDir?.sizeLimit)
    const { requests, limits } = containers[0].resources
    expect(room * 1024 ** 3).toBeGreaterThan(all)
    expect(gibibytes(limits['ephemeral-storage'])).toBeGreaterThan(room)
    expect(gibibytes(requests?.['ephemeral-storage']) * 1024 ** 3).toBeGreaterThanOrEqual(ofOne)
  },
)

interface ScaledObject {
  readonly spec: {
    readonly triggers: readonly { readonly metadata: { readonly consumerGroup?: string; readonly topic?: string } }[]
  }
}

test('replicas follow the lag of each consumer in each of its topics, but those with few records', () => {
  const files = readdirSync(join(K8S, 'components/keda')).filter((file) =>
    SERVICE_NAMES.some((name) => file === `${name}.yaml`),
  )
  const followed = files.flatMap((file) =>
    manifest<ScaledObject>(`components/keda/${file}`).spec.triggers.flatMap(({ metadata: { consumerGroup, topic } }) =>
      consumerGroup === undefined ? [] : `${consumerGroup} in ${topic}`,
    ),
  )
  const few = /\.(workspaces|acts|erasures|rejected-batches)$/
  const all = SERVICE_NAMES.flatMap(consumersOf).filter(({ name }) => !few.test(name))
  const topics = all.flatMap((consumer) => consumer.topics.map((topic) => `${consumer.name} in ${topic}`))
  expect(followed.toSorted()).toEqual(topics.toSorted())
})

interface Kustomization {
  readonly configMapGenerator?: readonly { readonly name: string; readonly envs: readonly string[] }[]
  readonly resources: readonly string[]
  readonly images: readonly { readonly name: string }[]
  readonly labels: readonly unknown[]
}

test('every service is deployed, with an image in each overlay', () => {
  expect(manifest<Kustomization>('base/kustomization.yaml').resources).toEqual(
    expect.arrayContaining([...SERVICE_NAMES]),
  )
  for (const overlay of OVERLAYS) {
    const { images } = manifest<Kustomization>(`overlays/${overlay}/kustomization.yaml`)
    expect(images.map(({ name }) => name).toSorted()).toEqual(IMAGES.map((name) => `backoffice/${name}`))
  }
})
