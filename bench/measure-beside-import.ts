import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Api } from './api.ts'
import { applyImport, validateFile, writeProductsFile } from './import-file.ts'
import { closedLoop, percentile } from './load.ts'
import { aProduct } from './products.ts'
import { type Receiver, sharedNow, startReceiver } from './receiver.ts'
import type { Row } from './table.ts'

const ROWS = 60_000
const PRODUCTS = 500
const IDLE_MS = 20_000
/** Between two requests of one kind. */
const EVERY_MS = 50

/** What a workspace sees: milliseconds of each request, and of each create until its webhook arrives. */
type Latencies = Readonly<Record<'get' | 'list' | 'webhook', readonly number[]>>

const NAMES: Readonly<Record<keyof Latencies, string>> = {
  get: 'GET a product',
  list: 'list of 50 products',
  webhook: 'create answered → webhook received',
}

/** The latencies of one workspace while another one imports a file, beside its latencies before. */
export async function measureBesideImport(importing: Api, other: Api): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'))
  const path = join(folder, 'products.csv')
  await writeProductsFile(path, ROWS)
  await importing.post('/v1/categories', { name: 'All' })
  const ids: string[] = []
  await closedLoop(PRODUCTS, 8, async () => {
    ids.push((await other.post<Product>('/v1/products', aProduct(3))).id)
  })
  const receiver = await startReceiver()
  await other.post('/v1/webhooks', { url: receiver.url(0), enabled_events: ['product.created'] })
  const warmedUp = pause(IDLE_MS / 4)
  await latenciesWhile(warmedUp, other, ids, receiver)
  const idle = await latenciesWhile(pause(IDLE_MS), other, ids, receiver)
  const validation = validateFile(importing, path)
  const validating = await latenciesWhile(validation, other, ids, receiver)
  const applied = applyImport(importing, (await validation).id)
  const applying = await latenciesWhile(applied, other, ids, receiver)
  receiver.stop()
  rmSync(folder, { recursive: true })
  const kinds = Object.keys(NAMES) as (keyof Latencies)[]
  return kinds.flatMap((kind) => [
    rowOf(`${NAMES[kind]}, while another workspace validates a file`, idle[kind], validating[kind]),
    rowOf(`${NAMES[kind]}, while another workspace applies an import`, idle[kind], applying[kind]),
  ])
}

function rowOf(name: string, idle: readonly number[], beside: readonly number[]): Row {
  const [p50, p99, floor] = [percentile(beside, 0.5), percentile(beside, 0.99), percentile(idle, 0.99)]
  return {
    name,
    measured: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    floor: `p50 ${percentile(idle, 0.5).toFixed(1)} ms, p99 ${floor.toFixed(1)} ms idle`,
    ratio: p99 / floor,
    bound: 'ratio ≤ 2',
  }
}

/** Sends requests at a fixed rate until the work is done. */
async function latenciesWhile(
  work: Promise<unknown>,
  api: Api,
  ids: readonly string[],
  receiver: Receiver,
): Promise<Latencies> {
  await receiver.begin(true)
  let isOver = false
  const createdAt = new Map<string, number>()
  const everySoOften = async (send: (index: number) => Promise<unknown>) => {
    const sent: Promise<number>[] = []
    while (!isOver) {
      sent.push(timed(() => send(sent.length)))
      await pause(EVERY_MS)
    }
    return Promise.all(sent)
  }
  const create = async () => {
    const { id } = await api.post<Product>('/v1/products', aProduct(3))
    createdAt.set(id, sharedNow())
  }
  const requests = Promise.all([
    everySoOften((index) => api.get(`/v1/products/${ids[index % ids.length]}`)),
    everySoOften(() => api.get('/v1/products?limit=50')),
    everySoOften(create),
  ])
  await work.finally(() => {
    isOver = true
  })
  const [get, list] = await requests
  await receiver.until(createdAt.size)
  const arrivals = await receiver.arrivals()
  const webhook = arrivals.map(({ at, resource }) => at - (createdAt.get(resource) ?? Number.NaN))
  return { get, list, webhook }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
