import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { type Caller, INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { TokenSigner } from '@backoffice/http/token-signer.ts'
import { internalSigningKey, rolePasswords, stackSecrets } from '@backoffice/local/secrets.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { ATTACKS } from '@backoffice/tests/attacks/attacks.ts'
import { type Api, apiClient } from './api.ts'
import { machine } from './machine.ts'
import { measureApps } from './measure-apps.ts'
import { measureBesideImport } from './measure-beside-import.ts'
import { measureCollections } from './measure-collections.ts'
import { measureConsole } from './measure-console.ts'
import { measureCost } from './measure-cost.ts'
import { measureCreates } from './measure-creates.ts'
import { measureCustomers } from './measure-customers.ts'
import { measureDeliveryList } from './measure-delivery-list.ts'
import { measureGateway } from './measure-gateway.ts'
import { measureImportFile } from './measure-import-file.ts'
import { measureImports } from './measure-imports.ts'
import { measureNeighbour } from './measure-neighbours.ts'
import { measureOrderList } from './measure-order-list.ts'
import { measureOrders } from './measure-orders.ts'
import { measureProductList } from './measure-product-list.ts'
import { measureProfiles } from './measure-profiles.ts'
import { measureSharedLimits } from './measure-shared-limits.ts'
import { measureStock } from './measure-stock.ts'
import { measureTelemetry } from './measure-telemetry.ts'
import { measureUpdates } from './measure-updates.ts'
import { measureWebhookLatency } from './measure-webhooks.ts'
import { type BenchStack, useStack } from './stack.ts'
import type { WebhookPlace } from './subscribe.ts'
import { printTable, type Row } from './table.ts'
import { webhookMeasurements } from './webhooks.ts'

const RESULTS = 'bench/results'
/** The time without requests before the memory of the services is read. */
const IDLE_MS = 10_000

const isWanted = wanted()
const on = await machine()
const stack = await useStack()
try {
  const rows = await measure(stack)
  printTable(rows)
  console.log(`\n${on.cores} cores; before the run others used ${Math.round(100 * on.busyShare)} % of them`)
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(`${RESULTS}/latest.json`, JSON.stringify({ at: new Date(), machine: on, rows }, null, 2))
  console.log(`written to ${RESULTS}/latest.json`)
} finally {
  await stack.stop()
}

/** `npm run bench -- webhooks stock` selects the measurements whose names begin so; without names, all. */
function wanted(): (what: string) => boolean {
  const names = process.argv.slice(2)
  // `cost of rename` is a part of `cost`, which measures it alone.
  return (what) => names.length === 0 || names.some((name) => what.startsWith(name) || name.startsWith(`${what} of `))
}

async function measure(stack: BenchStack): Promise<Row[]> {
  const { description, directory } = stack
  const secrets = stackSecrets(directory)
  const passwordOf = rolePasswords(secrets)
  const catalogUrl = roleUrl(description.postgres, schemaOf('catalog'), passwordOf)
  const rows: Row[] = []
  const measuring = async (what: string, work: (own: Workspace) => Promise<Row[]>) => {
    if (!isWanted(what)) return
    console.log(`measuring ${what} …`)
    const own = await newWorkspace(description)
    rows.push(...(await work(own)))
    await own.api.close()
  }
  const signer = new TokenSigner({ issuer: 'gateway', ...internalSigningKey(secrets) })
  const openAs = (as: keyof TokenSigner) => (name: string, workspaceId: string) =>
    directClient(stack.now().services[name]?.url ?? '', (caller) => signer[as](caller, name, new Date()), workspaceId)
  const openService = openAs('forwarded')
  const openInternal = openAs('ownCall')

  await measuring('memory when idle', async () => {
    await pause(IDLE_MS)
    return memoryOf(description.services)
  })
  await measuring('cost', (own) => {
    const openCatalog = () => openInternal('catalog', own.workspaceId)
    return measureCost({ ...own, openCatalog, catalogUrl, directory, description: stack.now }, isWanted)
  })
  await measuring('profiles', () => measureProfiles(newWorkspace))
  await measuring('gateway', async ({ api, workspaceId }) => {
    const direct = await openService('catalog', workspaceId)
    const measured = await measureGateway(api, direct)
    await direct.close()
    return measured
  })
  await measuring('gateway with shared rate limits', ({ key }) => measureSharedLimits(stack, key))
  for (const [variants, count] of [
    [0, 3000],
    [3, 3000],
    [100, 600],
  ] as const) {
    await measuring(`creates with ${variants} variants`, ({ api }) => measureCreates(api, catalogUrl, variants, count))
  }
  await measuring('telemetry', () => measureTelemetry(description, newWorkspace))
  await measuring('apps', () => measureApps(description))
  await measuring('updates', (own) => measureUpdates({ ...own, catalogUrl }))
  await measuring('stock', (own) => {
    const openCatalog = () => openInternal('catalog', own.workspaceId)
    return measureStock({ ...own, openCatalog, catalogUrl, postgresUrl: description.postgres })
  })
  await measuring('webhooks of products', async ({ api }) => [await measureWebhookLatency(api)])
  const webhooks: WebhookPlace = {
    directory,
    description: stack.now,
    openService: (workspaceId) => openService('webhook-delivery', workspaceId),
  }
  for (const [what, measureWebhooks] of webhookMeasurements(webhooks)) await measuring(what, measureWebhooks)
  await measuring('imports of batches', () => measureImports(description.postgres, passwordOf))
  await measuring('imports of files', (own) => measureImportFile({ ...own, description: stack.now, passwordOf }))
  await measuring('imports beside other workspaces', async ({ api }) => {
    const other = await newWorkspace(description)
    const beside = await measureBesideImport(api, other.api)
    await other.api.close()
    return beside
  })
  for (const attack of Object.keys(ATTACKS)) {
    await measuring(`neighbours: ${attack}`, () => measureNeighbour(attack, stack.now()))
  }
  await measuring('lists of a million products', (large) =>
    measureProductList({ ...large, catalogUrl, postgresUrl: description.postgres }),
  )
  const ordersUrl = roleUrl(description.postgres, schemaOf('orders'), passwordOf)
  await measuring('lists of a million customers', (large) =>
    measureCustomers({ ...large, ordersUrl, postgresUrl: description.postgres }),
  )
  const deliveriesUrl = roleUrl(description.postgres, schemaOf('webhook-delivery'), passwordOf)
  await measuring('lists of five million deliveries', (large) =>
    measureDeliveryList({ ...large, databaseUrl: deliveriesUrl, postgresUrl: description.postgres }),
  )
  await measuring('orders', (own) => {
    const openCatalog = () => openInternal('catalog', own.workspaceId)
    return measureOrders({ ...own, openCatalog, ordersUrl, catalogUrl, postgresUrl: description.postgres })
  })
  await measuring('lists of two million orders', (large) => {
    const openOrders = (workspaceId: string) => openService('orders', workspaceId)
    return measureOrderList({ ...large, openOrders, databaseUrl: ordersUrl, postgresUrl: description.postgres })
  })
  await measuring('console', (large) => measureConsole(stack, { ...large, postgresUrl: description.postgres }))
  await measuring('collections', (large) => measureCollections({ ...large, description: stack.now, passwordOf }))
  return rows
}

interface Workspace {
  readonly api: Api
  readonly workspaceId: string
  readonly key: string
}

/** Creates a workspace for a measurement, with a full-access key and a rate limit that it cannot reach. */
async function newWorkspace(description: BenchStack['description']): Promise<Workspace> {
  const admin = apiClient(description.gateway, { authorization: `Bearer ${description.admin_token}` })
  const { id } = await admin.post<{ id: string }>('/admin/v1/workspaces', { name: 'Bench' })
  await admin.put(`/admin/v1/workspaces/${id}/settings`, { rate_limit: { per_second: 100_000, burst: 100_000 } })
  const { key } = await admin.post<{ key: string }>(`/admin/v1/workspaces/${id}/keys`, { name: 'bench', scopes: ['*'] })
  await admin.close()
  return { api: apiClient(description.gateway, { authorization: `Bearer ${key}` }), workspaceId: id, key }
}

/** A client that calls a service as the gateway or another service does. */
async function directClient(
  serviceUrl: string,
  sign: (caller: Caller) => Promise<string>,
  workspaceId: string,
): Promise<Api> {
  const caller = { workspaceId, livemode: true, keyId: 'bench', scopes: ['*'], productStatuses: [...PRODUCT_STATUSES] }
  return apiClient(serviceUrl, { [INTERNAL_TOKEN_HEADER]: await sign(caller) })
}

/** Resident memory of each service. */
function memoryOf(services: BenchStack['description']['services']): Row[] {
  return Object.entries(services).map(([name, { pid }]) => {
    const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
    const bound = name === 'orders' ? '≤ 150 MB' : '≤ 120 MB'
    return { name: `idle memory of ${name}`, measured: `${Math.round((kib * 1024) / 1e6)} MB`, bound }
  })
}
