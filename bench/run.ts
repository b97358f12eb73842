import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { INTERNAL_TOKEN_HEADER, tokenSigner } from '@backoffice/http/internal-token.ts'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { schemaOf } from '@backoffice/local/services.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { type Api, apiClient } from './api.ts'
import { measureCreates } from './measure-creates.ts'
import { measureGateway } from './measure-gateway.ts'
import { measureImports } from './measure-imports.ts'
import { measureProductList } from './measure-product-list.ts'
import { measureStock } from './measure-stock.ts'
import { measureUpdates } from './measure-updates.ts'
import { measureWebhookBurst, measureWebhookLatency } from './measure-webhooks.ts'
import { type BenchStack, useStack } from './stack.ts'
import { printTable, type Row } from './table.ts'

const RESULTS = 'bench/results'
/** How long services have had nothing to do when their memory is read. */
const IDLE_MS = 10_000

const stack = await useStack()
try {
  const rows = await measure(stack)
  printTable(rows)
  mkdirSync(RESULTS, { recursive: true })
  const machine = { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version }
  writeFileSync(`${RESULTS}/latest.json`, JSON.stringify({ at: new Date(), machine, rows }, null, 2))
  console.log(`\nwritten to ${RESULTS}/latest.json`)
} finally {
  await stack.stop()
}

async function measure({ description, directory }: BenchStack): Promise<Row[]> {
  const secrets = stackSecrets(directory)
  announce('idle memory')
  await pause(IDLE_MS)
  const rows: Row[] = memoryOf(description.services)
  const catalogUrl = roleUrl(description.postgres, schemaOf('catalog'), secrets.rolePassword)
  const { api, workspaceId } = await newWorkspace(description)
  announce('the gateway')
  const direct = await directClient(description.services.catalog?.url ?? '', secrets.internalPrivateKey, workspaceId)
  rows.push(await measureGateway(api, direct))
  await direct.close()
  for (const [variants, count] of [
    [0, 3000],
    [3, 3000],
    [100, 600],
  ] as const) {
    announce(`creates with ${variants} variants`)
    rows.push(...(await measureCreates(api, catalogUrl, variants, count)))
  }
  await api.close()

  announce('updates')
  const changing = await newWorkspace(description)
  rows.push(...(await measureUpdates({ ...changing, catalogUrl })))
  await changing.api.close()

  announce('stock')
  const shop = await newWorkspace(description)
  const openCatalog = () =>
    directClient(description.services.catalog?.url ?? '', secrets.internalPrivateKey, shop.workspaceId)
  rows.push(...(await measureStock({ ...shop, openCatalog, catalogUrl, postgresUrl: description.postgres })))
  await shop.api.close()

  for (const [what, measureWebhooks] of [
    ['webhook latency', measureWebhookLatency],
    ['a burst of webhooks', measureWebhookBurst],
  ] as const) {
    announce(what)
    const { api } = await newWorkspace(description)
    rows.push(await measureWebhooks(api))
    await api.close()
  }

  announce('imports')
  rows.push(...(await measureImports(description.postgres, secrets.rolePassword)))

  announce('lists of a million products')
  const large = await newWorkspace(description)
  rows.push(...(await measureProductList({ ...large, catalogUrl, postgresUrl: description.postgres })))
  await large.api.close()
  return rows
}

function announce(what: string): void {
  console.log(`measuring ${what} …`)
}

/** A workspace of its own for a measurement, with a full-access key and no rate limit in the way. */
async function newWorkspace(description: BenchStack['description']): Promise<{ api: Api; workspaceId: string }> {
  const admin = apiClient(description.gateway, { authorization: `Bearer ${description.admin_token}` })
  const { id } = await admin.post<{ id: string }>('/admin/v1/workspaces', { name: 'Bench' })
  await admin.put(`/admin/v1/workspaces/${id}/settings`, { rate_limit: { per_second: 100_000, burst: 100_000 } })
  const { key } = await admin.post<{ key: string }>(`/admin/v1/workspaces/${id}/keys`, { name: 'bench', scopes: ['*'] })
  await admin.close()
  return { api: apiClient(description.gateway, { authorization: `Bearer ${key}` }), workspaceId: id }
}

/** A client that calls a service as the gateway does. */
async function directClient(serviceUrl: string, privateKey: string, workspaceId: string): Promise<Api> {
  const caller = { workspaceId, livemode: true, keyId: 'bench', scopes: ['*'], productStatuses: [...PRODUCT_STATUSES] }
  return apiClient(serviceUrl, { [INTERNAL_TOKEN_HEADER]: await tokenSigner(privateKey)(caller, new Date()) })
}

/** Resident memory of each service. */
function memoryOf(services: BenchStack['description']['services']): Row[] {
  return Object.entries(services).map(([name, { pid }]) => {
    const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
    return { name: `idle memory of ${name}`, measured: `${Math.round((kib * 1024) / 1e6)} MB`, bound: '≤ 120 MB' }
  })
}
