import { conflict } from '@backoffice/contracts/errors.ts'
import { Id, Name } from '@backoffice/contracts/fields.ts'
import { Variant } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { oneChangeOn } from '../products/plan-update.ts'
import { VariantInput } from '../products/product-input.ts'
import { productUpdated } from '../products/product-records.ts'
import { type ProductRecord, type VariantRecord, variantBody } from '../products/product-view.ts'
import { defineOptions, extendOptions } from './extend-options.ts'
import { lockProduct } from './locked-product.ts'
import {
  type ExtendedOption,
  planAttributes,
  refuseDefaultVariant,
  refuseOneTooMany,
  refuseTooMuchStock,
} from './plan-variant.ts'

/** A variant of a variable product; `attributes` maps option names to values (OP-22, OP-23). */
export const CreateVariantBody = VariantInput.extend({ attributes: z.record(Name, Name) })

/** POST /v1/products/{id}/variants (extension of OP-19; spec: Update rules 7). */
export const createVariant = operation({
  method: 'POST',
  path: '/v1/products/{id}/variants',
  summary: 'Add a variant to a variable product',
  scope: 'product::create',
  params: z.strictObject({ id: Id }),
  body: CreateVariantBody,
  responses: { 201: Variant },
  openPoints: ['OP-08', 'OP-11', 'OP-12', 'OP-15', 'OP-19', 'OP-22', 'OP-23', 'OP-24', 'OP-94'],
  extension: true,

  handle: ({ params, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const product = await lockProduct(tx, params.id)
      refuseDefaultVariant(product)
      refuseOneTooMany(product)
      refuseTooMuchStock(product, body.stock)
      const { sku, stock, price, cost } = body
      const known = product.options.length > 0
      const options = known ? product.options : await defineOptions(tx, product, Object.keys(body.attributes), now)
      const plan = planAttributes(product, options, body.attributes)
      const variant = { id: uuidv7(), sku, stock, price: price ?? {}, cost: cost ?? {}, attributes: plan.attributes }
      const next: ProductRecord = {
        ...product,
        ...oneChangeOn(product, now),
        options: plan.options,
        variants: [...product.variants, variant],
      }
      await insertVariant(tx, next, variant, plan.extended)
      await publish(tx, productUpdated(next), next.updatedAt)
      return created(variantBody(variant))
    }),
})

/**
 * Inserts a variant after the product's last, in one statement that touches no other variant. Throws `conflict` for a SKU
 * that is taken (OP-15); one taken at this very moment fails on its unique constraint, and the transaction runs again.
 */
async function insertVariant(
  tx: Transaction,
  product: ProductRecord,
  variant: VariantRecord,
  extended: readonly ExtendedOption[],
): Promise<void> {
  const workspace = tx.context.workspaceId
  const [result] = await tx<[{ isSkuTaken: boolean }]>`
    with taken as (
      select from variant where workspace_id = ${workspace} and sku = ${variant.sku}
    ), ${extendOptions(tx, product.id, extended)}, new_variant as (
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      select
        ${workspace}, ${variant.id}, ${product.id}, ${variant.sku}, ${variant.stock},
        ${JSON.stringify(variant.price)}::text::jsonb, ${JSON.stringify(variant.cost)}::text::jsonb,
        ${JSON.stringify(variant.attributes)}::text::jsonb,
        1 + coalesce((select max(position) from variant where workspace_id = ${workspace} and product_id = ${product.id}), 0)
      where not exists (select from taken)
    ), changed_product as (
      update product set version = ${product.version}, updated_at = ${product.updatedAt}
      where workspace_id = ${workspace} and id = ${product.id}
    )
    select exists (select from taken) as "isSkuTaken"`
  if (result.isSkuTaken) throw skuTaken(variant.sku)
}

/** The SKU belongs to a variant of this or another product (OP-15). */
export const skuTaken = (sku: string | undefined) =>
  conflict(`sku: "${sku}" belongs to another variant of this workspace`)
