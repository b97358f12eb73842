import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import { closedLoop } from './load.ts'

/** Each table with the column that sorts its rows in the order of the products. */
const TABLES = [
  ['product', 'id'],
  ['variant', 'product_id'],
  ['product_category', 'product_id'],
  ['outbox', 'key'],
] as const

/** The products of a workspace; `url` connects as a superuser. */
export interface Products {
  readonly url: string
  readonly workspaceId: string
}

/** How many products are copied, and in how many transactions side by side. */
export interface CopySize {
  readonly batches: number
  readonly rows: number
  readonly concurrency: number
}

/**
 * Copies new simple products of one workspace into another by COPY, a batch per transaction, into tables with the same
 * indexes, foreign keys and triggers. The destination has no relay, which would publish their states meanwhile. Returns
 * products per second.
 */
export async function copyProducts(from: Products, to: Products, size: CopySize): Promise<number> {
  const options = { onnotice: () => undefined, connection: { search_path: 'catalog' } }
  const reader = postgres(from.url, { ...options, max: 1 })
  const writer = postgres(to.url, { ...options, max: size.concurrency })
  await writer`
    insert into category (workspace_id, id, name, slug, position, created_at, updated_at)
    select ${to.workspaceId}, id, name, slug, position, created_at, updated_at
    from json_populate_recordset(null::category, ${await categoriesOf(reader, from.workspaceId)}::text::json)`
  const tables: { statement: string; lines: string[] }[] = []
  for (const [table, key] of TABLES) {
    const columns = await columnsOf(reader, table)
    const only = table === 'outbox' ? `and type = 'product.state'` : ''
    const query = `copy (
      select ${columns} from ${table} where workspace_id = '${from.workspaceId}' ${only}
      order by ${key} limit ${size.batches * size.rows}
    ) to stdout`
    const copied = await text(await reader.unsafe(query).readable())
    const lines = copied.replaceAll(from.workspaceId, to.workspaceId).split('\n')
    tables.push({ statement: `copy ${table} (${columns}) from stdin`, lines })
  }
  await reader.end()
  const { perSecond } = await closedLoop(size.batches, size.concurrency, (batch) =>
    writer.begin(async (tx) => {
      for (const { statement, lines } of tables) {
        const rows = lines.slice(batch * size.rows, (batch + 1) * size.rows).map((line) => `${line}\n`)
        await pipeline(Readable.from([rows.join('')]), await tx.unsafe(statement).writable())
      }
    }),
  )
  await writer.end()
  return perSecond * size.rows
}

async function categoriesOf(sql: postgres.Sql, workspaceId: string): Promise<string> {
  const [found] = await sql<[{ categories: string }]>`
    select coalesce(json_agg(category), '[]')::text as categories from category where workspace_id = ${workspaceId}`
  return found.categories
}

/** The columns that a write fills; `published_at` of the outbox is the relay's. */
async function columnsOf(sql: postgres.Sql, table: string): Promise<string> {
  const rows = await sql<{ column: string }[]>`
    select quote_ident(column_name) as column from information_schema.columns
    where table_schema = 'catalog' and table_name = ${table} and is_generated = 'NEVER' and is_identity = 'NO'
      and column_name <> 'published_at'
    order by ordinal_position`
  return rows.map(({ column }) => column).join(', ')
}
