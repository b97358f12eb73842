import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Installation } from '@backoffice/contracts/app.ts'
import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { settingsOf } from '@backoffice/local/service-settings.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { droppedNames } from '@backoffice/postgres/testing/migration-rules.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { apiWith } from './testing/api.ts'
import { prepareDeployment, type VersionSettings } from './testing/deployment.ts'
import { importsOf, productRows } from './testing/imports.ts'
import { expectConsistency, expectNothingLost } from './testing/nothing-lost.ts'
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
/** Services that neither call nor hear each other are tried together. */
const TOGETHER = [
  ['gateway'],
  ['catalog'],
  ['collections', 'orders'],
  ['imports', 'apps'],
  ['webhook-delivery'],
] as const satisfies readonly (readonly ServiceName[])[]

Object.assign(process.env, { STOP_DELAY, KAFKA_PREFIX: `rolling-${randomUUID()}.`, LOG_LEVEL: 'warn' })
const previous = await previousVersion()
const deployment = await prepareDeployment({
  replicas: 2,
  ...(previous && { registerFormerSchemas: (registry) => registerFormerSchemas(previous, registry) }),
})
const { directory, stack } = deployment
const sql = postgres(stack.postgres, { max: 2, onnotice: () => undefined })
whenDone(() => sql.end())

if (previous === undefined)
  console.log('this clone has no earlier commit: this version takes the place of the one before')
else console.log(`the version before is ${previous.commit}`)
const former = previous && {
  programsIn: previous.programs,
  settings: settingsOfBoth(previous, stack),
}
/** A version from before STOP_DELAY loses requests when it stops. */
const canDrain =
  previous === undefined ||
  readFileSync(join(previous.directory, 'libs/runtime/src/config.ts'), 'utf8').includes('STOP_DELAY')
/** The services of a version from before OP-299 run no checks: its own command line does. */
const answersOperators = previous === undefined || existsSync(join(previous.directory, 'libs/service/src/checks'))

const description = (): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))
/** A workspace with clients, a collection of all its products, and a receiver of all its events. */
async function shop(isRepeated: () => boolean) {
  const receiver = await startReceiver()
  const { id, key, api } = await newWorkspace(description())
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
  const collection = { name: 'In stock', published: true, membership_type: 'SMART', rules }
  expect((await api('POST', '/v1/collections', collection)).status).toBe(201)
  expect((await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })).status).toBe(201)
  const load = startShopLoad({ origin: description().gateway, key, clients: CLIENTS, isRepeated })
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
  return { id, load, untilAllArrived }
}

/**
 * Replaces all processes by those of this version, step by step, while clients of two workspaces work. Returns how many
 * requests were repeated.
 */
async function replaceUnderLoad(
  { isRepeated = false, endsMixed = false },
  ...steps: readonly (VersionSettings | (() => Promise<unknown>))[]
): Promise<number> {
  const since = new Date()
  const shops = [await shop(() => isRepeated), await shop(() => isRepeated)]
  const sent = () => shops.reduce((sum, { load }) => sum + load.requests, 0)
  const expectNoFailure = () => {
    const failures = shops.flatMap(({ load }) => load.failures.map((failure) => JSON.stringify(failure)))
    const newestErrors = deployment.errors.slice(-10).map((line) => line.slice(0, 1500))
    expect(failures, [...failures.slice(0, 10), ...newestErrors].join('\n')).toEqual([])
  }
  await eventually('clients work', () => sent() > 100, RECOVERY_MS)
  for (const step of steps) {
    if (typeof step === 'function') await step()
    else await deployment.replace({ settings: step })
    const before = sent()
    await eventually('clients work afterwards', () => sent() > before + 50, RECOVERY_MS)
    expectNoFailure()
  }
  await Promise.all(shops.map(({ load }) => load.stop()))
  expectNoFailure()
  await Promise.all(shops.map(({ untilAllArrived }) => untilAllArrived()))
  if (endsMixed && !answersOperators) await expectConsistency(sql, directory, since, previous?.directory)
  else await expectNothingLost(sql, directory, since)
  const repeated = shops.reduce((sum, { load }) => sum + load.repeated, 0)
  console.log(`${sent()} requests, ${repeated} repeated, 0 failed`)
  return repeated
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

it('each service of this version works with the others of the version before, on the schema of this one', async () => {
  await deployment.start(former ?? {})
  const app = await registerApp()
  expect(TOGETHER.flat().toSorted()).toEqual(SERVICE_NAMES.toSorted())
  const turns = TOGETHER.map((names, index) => async () => {
    await Promise.all([
      deployment.replace({ settings: former?.settings ?? {} }, names),
      deployment.replace(former ?? {}, TOGETHER[index - 1] ?? []),
    ])
    await importAndInstall(app)
  })
  const repeated = await replaceUnderLoad({ isRepeated: !canDrain, endsMixed: true }, ...turns)
  if (canDrain) expect(repeated).toBe(0)
}, 900_000)

it('the version before is replaced without a failed request or a lost event', async () => {
  // The new version has a new key of every kind as well, the last of its keys.
  const settings = SERVICE_NAMES.map((name) => [name, { ...former?.settings[name], ...added[name] }])
  const repeated = await replaceUnderLoad({ isRepeated: !canDrain }, Object.fromEntries(settings))
  if (canDrain) expect(repeated).toBe(0)
}, 600_000)

it('rolling restarts that take every new key into use, then drop the former one, fail no request and lose no event', async () => {
  const reseal = () => {
    const settings = { ...settingsOf('webhook-delivery', stack), ...first['webhook-delivery'] }
    return promisify(execFile)(process.execPath, ['services/webhook-delivery/src/secrets/reseal.ts'], { env: settings })
  }
  expect(await replaceUnderLoad({}, first, reseal, alone)).toBe(0)
}, 900_000)
