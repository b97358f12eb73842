import { StockRow } from '@backoffice/contracts/imports.ts'
import { named } from '@backoffice/contracts/named.ts'
import { batchOperation, keyBy } from '@backoffice/importing/batch-operation.ts'
import type { ProductChange } from '../products/product-difference.ts'
import { writeProducts } from '../products/write-products.ts'
import { planStock } from './import-stock.ts'

/** POST /v1/stock/batch: sets the stock of SKUs (OP-275). Rows of one product are one change of it. */
export const batchStock = batchOperation<ProductChange[]>({
  operationId: 'batchStock',
  path: '/v1/stock/batch',
  summary: 'Set the stock of up to 1,000 SKUs',
  scope: 'product::update',
  openPoints: ['OP-08', 'OP-120', 'OP-275', 'OP-276', 'OP-277'],
  events: ['product.updated'],
  name: 'StockBatch',
  row: named('StockBatchRow', StockRow, { sku: 'JUG-01', stock: 25 }),
  keysOf: keyBy('sku', 'sku_taken'),

  writer: () => ({
    async *plan(tx, rows, outcomes, now) {
      yield* planStock(tx, { isCheck: false, rows: await outcomes.valid(StockRow, rows) }, outcomes, now)
    },
    write: (tx, changes, now) => writeProducts(tx, changes, { events: {}, now }),
  }),
})
