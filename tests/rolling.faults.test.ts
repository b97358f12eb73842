import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Installation } from '@backoffice/contracts/app.ts'
import { calledBy, consumersOf, SERVICE_NAMES, SERVICES, type ServiceName } from '@backoffice/contracts/services.ts'
import { settingsOf } from '@backoffice/local/service-settings.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { droppedNames } from '@backoffice/postgres/testing/migration-rules.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { apiWith } from './testing/api.ts'
import { prepareDeployment, type Version, type VersionSettings } from './testing/deployment.ts'
import { importsOf, productRows } from './testing/imports.ts'
import { expectNothingLost } from './testing/nothing-lost.ts'
import { previousVersion } from './testing/previous-version.ts'
import { rotatedKeys } from './testing/rotated-keys.ts'
import { startShopLoad } from './testing/shop-load.ts'
import { registerFormerSchemas, settingsOfBoth } from './testing/version-settings.ts'
import { eventOf } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const ROOT = join(import.meta.dirname, '..')
const RECOVERY_MS = 120_000
/** The least that docs/operations.md asks for: a busy load balancer needs seconds to take a replica out. */
const STOP_DELAY = '10s'
/** Of each workspace. */
const CLIENTS = 2
/** The services of this version, one state after the other, while the others are of the version before. */
const MIXED: readonly (readonly ServiceName[])[] = [
  ['collections', 'orders', 'imports', 'apps'],
  ['collections', 'orders', 'gateway', 'catalog'],
  ['webhook-delivery', 'gateway'],
  ['webhook-delivery', 'imports', 'apps', 'catalog'],
]

Object.assign(process.env, { STOP_DELAY, KAFKA_PREFIX: `rolling-${randomUUID()}.`, LOG_LEVEL: 'warn' })
const bundling = previousVersion()
const deployment = await prepareDeployment({
  replicas: 2,
  // No test crashes the server.
  postgresSettings: { fsync: 'off', full_page_writes: 'off' },
  async registerFormerSchemas(registry) {
    const version = await bundling
    if (version) await registerFormerSchemas(version, registry)
  },
})
const previous = await bundling
const { directory, stack } = deployment
const sql = postgres(stack.postgres, { max: 2, onnotice: () => undefined })
whenDone(() => sql.end())

if (previous === undefined)
  console.log('this clone has no earlier commit: this version takes the place of the one before')
else console.log(`the version before is ${previous.commit}`)
const settings = previous && (await settingsOfBoth(previous, stack))
/** These services of this version, the others of the version before, with these keys. */
function mixed(ofThisVersion: readonly ServiceName[], keys: VersionSettings): Version {
  const others = SERVICE_NAMES.filter((name) => !ofThisVersion.includes(name))
  return {
    programsIn: previous ? Object.fromEntries(others.map((name) => [name, previous.programs])) : {},
    settings: Object.fromEntries(SERVICE_NAMES.map((name) => [name, { ...settings?.[name], ...keys[name] }])),
  }
}

const description = (): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))
/** A workspace with clients, a collection of all its products, and a receiver of all its events. */
async function shop() {
  const receiver = await startReceiver()
  const { key, api } = await newWorkspace(description())
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
  const collection = { name: 'In stock', published: true, membership_type: 'SMART', rules }
  expect((await api('POST', '/v1/collections', collection)).status).toBe(201)
  expect((await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })).status).toBe(201)
  const load = startShopLoad({ origin: description().gateway, key, clients: CLIENTS, isRepeated: () => false })
  const arrived = () => {
    const events = receiver.requests.map(eventOf)
    return (type: string) => new Set(events.filter((event) => event.type === type).map(({ data }) => data.id))
  }
  const untilAllArrived = async () => {
    await eventually(
      'the events of all products and orders have arrived',
      () => {
        const ofType = arrived()
        const [products, updated, orders] = ['product.created', 'product.updated', 'order.created'].map(ofType)
        return (
          load.products.every((id) => products?.has(id) && updated?.has(id)) &&
          load.orders.every((id) => orders?.has(id))
        )
      },
      RECOVERY_MS,
    )
    await eventually(
      'the collection has every product',
      async () => {
        const { body } = await api<{ product_count: number }>('GET', '/v1/collections/in-stock')
        return body.product_count === load.products.length
      },
      RECOVERY_MS,
    )
  }
  return { load, untilAllArrived }
}

/** Clients of two workspaces, who work until the end. */
async function startShops() {
  const since = new Date()
  const shops = [await shop(), await shop()]
  const sent = () => shops.reduce((sum, { load }) => sum + load.requests, 0)
  const expectNoFailure = () => {
    const failures = shops.flatMap(({ load }) => load.failures.map((failure) => JSON.stringify(failure)))
    const newestErrors = deployment.errors.slice(-10).map((line) => line.slice(0, 1500))
    expect(failures, [...failures.slice(0, 10), ...newestErrors].join('\n')).toEqual([])
  }
  return {
    /** Expects that no request has failed, nor fails now. */
    async work() {
      const before = sent()
      await eventually('clients work', () => sent() > before + 50, RECOVERY_MS)
      expectNoFailure()
    },
    /** Expects that no request has failed and that nothing was lost. */
    async end() {
      await Promise.all(shops.map(({ load }) => load.stop()))
      expectNoFailure()
      await Promise.all(shops.map(({ untilAllArrived }) => untilAllArrived()))
      await expectNothingLost(sql, directory, since)
      console.log(`${sent()} requests, 0 failed`)
    },
  }
}

const { added, first, alone } = rotatedKeys(stack)

/** What the clients do not: the products of a file are imported, and an app is installed. */
async function importAndInstall(app: AppOfTest): Promise<void> {
  const workspace = await newWorkspace(description())
  const imports = importsOf({ description }, workspace)
  const { body: uploaded } = await imports.upload('products', productRows(20))
  expect((await imports.atRest(uploaded.id, RECOVERY_MS)).status).toBe('VALIDATED')
  await imports.start(uploaded.id)
  await imports.until(uploaded.id, 'is completed', ({ status }) => status === 'COMPLETED', RECOVERY_MS)
  await app.install(workspace.id)
}
type AppOfTest = Awaited<ReturnType<typeof registerApp>>

/** Registers an app that answers every call of the platform. */
async function registerApp() {
  const { origin } = new URL((await startReceiver()).url)
  const admin = apiWith(description().gateway, description().admin_token)
  // Of members and values that every version knows: an app is not registered anew for a deploy.
  const webhooks = { path: '/webhooks', events: ['order.paid'] }
  const manifest = { provider: 'rolling', scopes: ['sale::create'], embed: '/embed', webhooks }
  expect((await admin('POST', '/admin/v1/apps', { origin, manifest })).status).toBe(201)
  return {
    async install(workspace: string) {
      const request = { provider: manifest.provider }
      const { body } = await admin<Installation>('POST', `/admin/v1/workspaces/${workspace}/installations`, request)
      await admin('POST', `/admin/v1/installations/${body.id}/consent`, {})
      const now = () => admin<Installation>('GET', `/admin/v1/installations/${body.id}`)
      await eventually('the app is installed', async () => (await now()).body.state === 'ACTIVE', RECOVERY_MS)
    },
  }
}

it.skipIf(previous === undefined)('drops nothing that the version before names', () => {
  const files = (folder: string, ext: string) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ext))
      : []
  const version = previous?.directory ?? ''
  const sources = ['libs', 'services'].flatMap((layer) =>
    files(join(version, layer), '.ts').map((file) => join(version, layer, file)),
  )
  const texts = sources
    .filter((file) => file.includes('/src/') && !/\.test\.ts$|\/testing\//.test(file))
    .map((file) => readFileSync(file, 'utf8'))
  const folders = ['libs/postgres', ...SERVICE_NAMES.map((name) => `services/${name}`)]
  const named = folders.flatMap((folder) => {
    const old = new Set(files(join(version, folder, 'migrations'), '.sql'))
    const dropped = files(join(ROOT, folder, 'migrations'), '.sql')
      .filter((file) => !old.has(file))
      .flatMap((file) => droppedNames(readFileSync(join(ROOT, folder, 'migrations', file), 'utf8')))
    const schema = readFileSync(join(ROOT, folder, 'schema.sql'), 'utf8')
    const gone = dropped.filter((name) => !new RegExp(`^create [\\w ]+ ${name}\\b`, 'm').test(schema))
    // Where a statement names it: plain words of the code can be names of tables too.
    const named = (name: string) =>
      new RegExp(`\\b(?:from|join|into|update|table)\\s+${name}\\b|['"]${name}['"]|\\b${name}\\(`)
    return gone.filter((name) => texts.some((text) => named(name).test(text)))
  })
  expect(named).toEqual([])
})

it('of two services that call or hear each other, each is tried while the other is of the version before', () => {
  const heardBy = (name: ServiceName) => {
    const topics = consumersOf(name).flatMap((consumer) => consumer.topics)
    return SERVICE_NAMES.filter((publisher) => SERVICES[publisher].publishes.some((topic) => topics.includes(topic)))
  }
  const isTried = (one: ServiceName, other: ServiceName) =>
    MIXED.some((names) => names.includes(one) && !names.includes(other))
  const untried = SERVICE_NAMES.flatMap((name) =>
    [...calledBy(name), ...heardBy(name)]
      .filter((other) => other !== name && !(isTried(name, other) && isTried(other, name)))
      .map((other) => `${name} and ${other}`),
  )
  expect(untried).toEqual([])
})

it('no request fails and no event is lost while both versions work side by side, the new one takes over, and every key is replaced', async () => {
  const [begin = [], second = [], third = [], fourth = []] = MIXED
  let ofThisVersion = begin
  await deployment.start(mixed(ofThisVersion, {}))
  const app = await registerApp()
  const shops = await startShops()
  const work = () => Promise.all([shops.work(), importAndInstall(app)])
  const become = async (next: readonly ServiceName[], keys: VersionSettings, also: readonly ServiceName[] = []) => {
    const changed = SERVICE_NAMES.filter((name) => ofThisVersion.includes(name) !== next.includes(name))
    ofThisVersion = next
    await deployment.replace(mixed(next, keys), [...changed, ...also])
    await work()
  }
  await work()
  // In these two, every replica is replaced, so that every one knows the new keys.
  await become(second, added)
  await become(third, added)
  await become(fourth, first)
  // Its replicas have been of this version since the third state.
  await become(SERVICE_NAMES, first, ['webhook-delivery'])
  await promisify(execFile)(process.execPath, ['services/webhook-delivery/src/secrets/reseal.ts'], {
    env: { ...settingsOf('webhook-delivery', stack), ...first['webhook-delivery'] },
  })
  await deployment.replace({ settings: alone })
  await work()
  await shops.end()
}, 900_000)
