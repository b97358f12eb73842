import { randomUUID } from 'node:crypto'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { type PasswordOf, roleUrl } from '@backoffice/postgres/provision.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { applyImportBatches } from '../services/catalog/src/imports/importers.ts'
import { copyProducts } from './copy-products.ts'
import { closedLoop } from './load.ts'
import { ownDatabase } from './own-database.ts'
import type { Row } from './table.ts'

const [WARM_UP, BATCHES, ROWS, PARTITIONS] = [30, 120, 500, 3]

/**
 * New simple products per second by import, several partitions side by side. Beside COPY of the same rows into the same
 * tables, with the same indexes, foreign keys and triggers, and as many rows in a transaction. It has its own database,
 * because the relay of a running catalog would publish the states of the products meanwhile.
 */
export async function measureImports(serverUrl: string, passwordOf: PasswordOf): Promise<Row[]> {
  const database = await ownDatabase(serverUrl, 'catalog', passwordOf)
  const catalog = importer(roleUrl(database.url, 'catalog', passwordOf))
  const workspaceId = randomUUID()
  await catalog.run(randomUUID(), WARM_UP)
  const { perSecond, statements } = await catalog.run(workspaceId, BATCHES)
  await catalog.stop()
  const size = { batches: BATCHES, rows: ROWS, concurrency: PARTITIONS }
  const from = { url: database.url, workspaceId }
  const floor = await copyProducts(from, { url: database.url, workspaceId: randomUUID() }, size)
  await database.drop()
  return [
    {
      name: `import new SIMPLE products, ${PARTITIONS} partitions of batches of ${ROWS}`,
      measured: `${(perSecond * ROWS).toFixed(0)}/s`,
      floor: `${floor.toFixed(0)}/s by COPY`,
      ratio: (perSecond * ROWS) / floor,
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
