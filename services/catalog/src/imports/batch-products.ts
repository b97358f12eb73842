import { named } from '@backoffice/contracts/named.ts'
import { refuseWithout } from '@backoffice/contracts/scopes.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { batchOperation, keyBy, type SentRow } from '@backoffice/importing/batch-operation.ts'
import type { RowKey } from '@backoffice/importing/row-outcomes.ts'
import { z } from 'zod'
import { CreateProductBody, UpdateProductBody } from '../products/product-input.ts'
import { writeProducts } from '../products/write-products.ts'
import { findProductsOf } from './find-products.ts'
import { type PlannedProducts, planProducts } from './plan-products.ts'

const { options, variants } = CreateProductBody.out.shape

/** POST /v1/products/batch: a row is the body of PUT where a product has its SKU, else that of POST (OP-275). */
export const batchProducts = batchOperation<PlannedProducts>({
  operationId: 'batchProducts',
  path: '/v1/products/batch',
  summary: 'Create or update up to 1,000 products',
  scope: 'product::create',
  openPoints: ['OP-08', 'OP-120', 'OP-275', 'OP-276', 'OP-277'],
  events: ['product.created', 'product.updated', 'category.created', 'tag.created'],
  name: 'ProductBatch',
  row: named('ProductBatchRow', z.strictObject({ ...UpdateProductBody.out.shape, options, variants }), {
    sku: 'JUG-01',
    name: 'Water jug',
    type: 'SIMPLE_PRODUCT',
    price: { EUR: 1900 },
    stock: 25,
  }),
  keysOf: skusOf,

  writer: ({ productStatuses, scopes }) => ({
    async *plan(tx, rows, outcomes, now) {
      const skus = rows.flatMap(({ values }) => skusOf(values).map(({ key }) => key))
      const sent = {
        rows,
        isCheck: false,
        found: await findProductsOf(tx, { isCheck: false }, skus),
        product_statuses: productStatuses,
        skusOf,
        create: (row: SentRow) => validate(CreateProductBody, row, 'row'),
        update(row: SentRow) {
          refuseWithout('product::update', scopes)
          return validate(UpdateProductBody, row, 'row')
        },
        forVariants: 'change it with /v1/products/{id}/variants or /v1/stock/batch',
      }
      yield* planProducts(tx, sent, outcomes, now)
    },
    write: (tx, { changes, newReferences }, now) => writeProducts(tx, changes, { events: { newReferences }, now }),
  }),
})

/** The SKUs of a row and of its variants, as far as they are texts: what is not is refused later. */
function skusOf(row: SentRow): RowKey[] {
  const variants: unknown[] = Array.isArray(row.variants) ? row.variants : []
  return [
    ...bySku(row),
    ...variants.flatMap((variant, index) =>
      bySku(Object(variant)).map((key) => ({ ...key, path: ['variants', index, 'sku'] })),
    ),
  ]
}

const bySku = keyBy('sku', 'sku_taken')
