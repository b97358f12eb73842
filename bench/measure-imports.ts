import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import postgres from 'postgres'
import { applyImportBatches } from '../services/catalog/src/imports/apply-import-batches.ts'
import { closedLoop } from './load.ts'
import { ownDatabase } from './own-database.ts'
import type { Row } from './table.ts'

const [WARM_UP, BATCHES, ROWS, PARTITIONS] = [30, 120, 500, 3]

/**
 * New simple products per second by import, several partitions side by side. Beside COPY of the same rows into the same tables,
 * with the same indexes, foreign keys and triggers, and as many rows in a transaction. It has its own database, because the
 * relay of a running catalog would publish the states of the products meanwhile.
 */
export async function measureImports(serverUrl: string, rolePassword: string): Promise<Row[]> {
  const database = await ownDatabase(serverUrl, 'catalog', rolePassword)
  const catalog = importer(roleUrl(database.url, 'catalog', rolePassword))
  const workspaceId = randomUUID()
  await catalog.run(randomUUID(), WARM_UP)
  const { perSecond, statements } = await catalog.run(workspaceId, BATCHES)
  await catalog.stop()
  const floor = await copyAgain(database.url, workspaceId, randomUUID())
  await database.drop()
  return [
    {
      name: `import new SIMPLE products, ${PARTITIONS} partitions of batches of ${ROWS}`,
      measured: `${(perSecond * ROWS).toFixed(0)}/s`,
      floor: `${(floor * ROWS).toFixed(0)}/s by COPY`,
      ratio: perSecond / floor,
      bound: '≥ 8,000/s, ratio ≥ 0.25',
    },
    { name: `SQL statements per batch of ${ROWS} products`, measured: String(statements), bound: '≤ 20' },
  ]
}

/** Applies batches as the catalog's consumer does, without Kafka. */
function importer(url: string) {
  let statements = 0
  const db = openDatabase({
    url,
    applicationName: 'bench imports',
    poolSize: PARTITIONS,
    onStatement: () => statements++,
  })
  const { handle } = applyImportBatches(() => undefined)
  const apply = (workspaceId: string, batch: number, template: string, rows: readonly object[]) => {
    const data = { import_id: randomUUID(), batch, template, product_statuses: [...PRODUCT_STATUSES], rows }
    const value = { workspace_id: workspaceId, livemode: true, data }
    const position = { topic: '', partition: 0, offset: '0', key: '', traceparent: undefined }
    return inTransaction(db.sql, (tx) => handle([{ ...position, value }], tx))
  }
  return {
    /** Batches per second, and the number of statements of each. */
    async run(workspaceId: string, count: number): Promise<{ perSecond: number; statements: number }> {
      await apply(workspaceId, 0, 'categories', [{ row: 2, values: { slug: 'all', name: 'All' } }])
      const batches = Array.from({ length: count }, (_, batch) =>
        Array.from({ length: ROWS }, (_, row) => aRow(batch, row)),
      )
      statements = 0
      const { perSecond } = await closedLoop(count, PARTITIONS, (batch) =>
        apply(workspaceId, batch, 'products', batches[batch] ?? []),
      )
      return { perSecond, statements: Math.ceil(statements / count) }
    },
    stop: () => db.stop?.(),
  }
}

const aRow = (batch: number, row: number) => {
  const id = randomUUID()
  const price = { NGN: 450_000, USD: 300 }
  const values = {
    sku: id,
    name: `Enamel mug ${(batch * ROWS + row).toString(36)}`,
    stock: 4,
    price,
    categories: ['all'],
  }
  return { row: batch * ROWS + row + 2, values }
}

/** Each table with the column that sorts its rows in the order of the products. */
const TABLES = [
  ['product', 'id'],
  ['variant', 'product_id'],
  ['product_category', 'product_id'],
  ['outbox', 'key'],
] as const

/** Copies the rows of one workspace into another, a batch per transaction. Returns transactions per second. */
async function copyAgain(url: string, from: string, to: string): Promise<number> {
  const options = { onnotice: () => undefined, connection: { search_path: 'catalog' } }
  const reader = postgres(url, { ...options, max: 1 })
  await reader`
    insert into category (workspace_id, id, name, slug, position, created_at, updated_at)
    select ${to}, id, name, slug, position, created_at, updated_at from category where workspace_id = ${from}`
  const tables: { statement: string; lines: string[] }[] = []
  for (const [table, key] of TABLES) {
    const columns = await columnsOf(reader, table)
    const only = table === 'outbox' ? `and type = 'product.state'` : ''
    const query = `copy (select ${columns} from ${table} where workspace_id = '${from}' ${only} order by ${key}) to stdout`
    const lines = (await text(await reader.unsafe(query).readable())).replaceAll(from, to).split('\n')
    tables.push({ statement: `copy ${table} (${columns}) from stdin`, lines })
  }
  await reader.end()
  const writer = postgres(url, { ...options, max: PARTITIONS })
  const { perSecond } = await closedLoop(BATCHES, PARTITIONS, (batch) =>
    writer.begin(async (tx) => {
      for (const { statement, lines } of tables) {
        const rows = lines.slice(batch * ROWS, (batch + 1) * ROWS).map((line) => `${line}\n`)
        await pipeline(Readable.from([rows.join('')]), await tx.unsafe(statement).writable())
      }
    }),
  )
  await writer.end()
  return perSecond
}

async function columnsOf(sql: postgres.Sql, table: string): Promise<string> {
  const rows = await sql<{ column: string }[]>`
    select quote_ident(column_name) as column from information_schema.columns
    where table_schema = 'catalog' and table_name = ${table} and is_generated = 'NEVER' and is_identity = 'NO'
    order by ordinal_position`
  return rows.map(({ column }) => column).join(', ')
}
