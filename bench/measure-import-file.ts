import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import type { PasswordOf } from '@backoffice/postgres/provision.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import type { Api } from './api.ts'
import { copyProducts } from './copy-products.ts'
import { applyImport, validateFile, writeProductsFile } from './import-file.ts'
import { ownDatabase } from './own-database.ts'
import { peakMemory } from './peak-memory.ts'
import type { Row } from './table.ts'

/** The rows of the large file; `IMPORT_ROWS=1000000 npm run bench -- imports` measures one of a million. */
const LARGE = Number(process.env.IMPORT_ROWS ?? 100_000)
const SMALL = 5000
/** Products that are copied for comparison, of the large file. */
const COPIED = { batches: Math.min(120, LARGE / 500), rows: 500, concurrency: 3 }
const MEMORY = { imports: '≤ 200 MB', catalog: '≤ 300 MB' }
const LOOK_EVERY_MS = 100
const PROJECTED_WITHIN_MS = 300_000

interface Place {
  readonly api: Api
  readonly workspaceId: string
  readonly passwordOf: PasswordOf
  description(): StackDescription
}

/** Files of new simple products: validation, applying beside COPY of the same rows, and the memory meanwhile. */
export async function measureImportFile({ api, workspaceId, passwordOf, description }: Place): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'))
  const fileOf = async (rows: number) => {
    const path = join(folder, `${rows}.csv`)
    await writeProductsFile(path, rows)
    return path
  }
  await api.post('/v1/categories', { name: 'All' })
  const small = await validateFile(api, await fileOf(SMALL))
  const smallMs = await applyImport(api, small.id)
  const services = Object.keys(MEMORY) as (keyof typeof MEMORY)[]
  const peakOf = (service: string) => peakMemory(description().services[service]?.pid ?? 0)
  const path = await fileOf(LARGE)
  services.forEach(peakOf)
  const large = await validateFile(api, path)
  const applyMs = await applyImport(api, large.id)
  const memory = services.map((service) => ({ service, bytes: peakOf(service) }))
  const projectedMs = await untilProjected(description())
  rmSync(folder, { recursive: true })

  const { postgres } = description()
  const database = await ownDatabase(postgres, 'catalog', passwordOf)
  const into = { url: database.url, workspaceId: randomUUID() }
  const floor = await copyProducts({ url: postgres, workspaceId }, into, COPIED)
  await database.drop()
  const rows = LARGE.toLocaleString('en')
  const perSecond = (LARGE / applyMs) * 1000
  return [
    {
      name: `validate a file of ${rows} products`,
      measured: `${((large.rows / large.ms) * 1000).toFixed(0)} rows/s`,
      bound: '≥ 40,000/s',
    },
    {
      name: `apply a file of ${rows} products, start → COMPLETED`,
      measured: `${perSecond.toFixed(0)}/s`,
      floor: `${floor.toFixed(0)}/s by COPY`,
      ratio: perSecond / floor,
      bound: '≥ 4,000/s',
    },
    {
      name: `apply a file of ${SMALL.toLocaleString('en')} products, start → COMPLETED`,
      measured: `${(smallMs / 1000).toFixed(1)} s`,
      bound: '≤ 5 s',
    },
    {
      name: `COMPLETED → all ${rows} products in collections`,
      measured: `${(projectedMs / 1000).toFixed(1)} s`,
      bound: 'no bound yet',
    },
    ...memory.map(({ service, bytes }) => ({
      name: `peak memory of ${service}, file of ${rows} products`,
      measured: `${Math.round(bytes / 1e6)} MB`,
      bound: MEMORY[service],
    })),
  ]
}

/** Waits until collections has read the states of all products. Returns the milliseconds. */
async function untilProjected({ kafka: brokers }: StackDescription): Promise<number> {
  const startedAt = performance.now()
  const kafka = connectKafka({ brokers, clientId: 'bench', logger: createLogger('bench', 'warn') })
  const lag = async () => {
    const positions = await kafka.positions('collections.products', [TOPICS.catalogProducts])
    return positions.reduce((sum, position) => sum + position.lag, 0)
  }
  while ((await lag()) > 0) {
    if (performance.now() - startedAt > PROJECTED_WITHIN_MS) throw new Error('collections does not catch up')
    await pause(LOOK_EVERY_MS)
  }
  await kafka.stop()
  return performance.now() - startedAt
}
