import { Id } from '@backoffice/contracts/fields.ts'
import { Variant } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { oneChangeOn } from '../products/plan-update.ts'
import { productUpdated } from '../products/product-records.ts'
import { type ProductRecord, type VariantRecord, variantBody } from '../products/product-view.ts'
import { CreateVariantBody, skuTaken } from './create-variant.ts'
import { extendOptions } from './extend-options.ts'
import { lockProduct } from './locked-product.ts'
import {
  type ExtendedOption,
  planAttributes,
  planChanges,
  refuseDefaultVariant,
  refuseTooMuchStock,
  type VariantChanges,
  variantOf,
} from './plan-variant.ts'

const UpdateVariantBody = CreateVariantBody.partial()
type UpdateVariantBody = z.output<typeof UpdateVariantBody>

/**
 * PUT /v1/products/{id}/variants/{variant_id} (extension of OP-19; spec: Update rules 7). What is not sent stays as it is.
 */
export const updateVariant = operation({
  method: 'PUT',
  path: '/v1/products/{id}/variants/{variant_id}',
  summary: 'Update a variant of a variable product',
  scope: 'product::update',
  params: z.strictObject({ id: Id, variant_id: Id }),
  body: UpdateVariantBody,
  responses: { 200: Variant },
  openPoints: ['OP-11', 'OP-12', 'OP-15', 'OP-19', 'OP-22', 'OP-24', 'OP-73', 'OP-94'],
  extension: true,

  handle: ({ params, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const product = await lockProduct(tx, params.id)
      const current = variantOf(product, params.variant_id)
      refuseDefaultVariant(product)
      const plan = planUpdate(product, current, body)
      const change = oneChangeOn(product, now)
      const stock = await writeVariant(tx, { productId: product.id, id: current.id, ...plan, ...change })
      if (stock === undefined) return ok(variantBody({ ...current, stock: body.stock ?? current.stock }))
      const variant = { ...current, ...plan.changes, stock }
      const variants = product.variants.map((one) => (one === current ? variant : one))
      const next = { ...product, ...change, options: plan.options, variants }
      await publish(tx, productUpdated(next), next.updatedAt)
      return ok(variantBody(variant))
    }),
})

function planUpdate(product: ProductRecord, current: VariantRecord, body: UpdateVariantBody) {
  const { attributes, stock } = body
  if (stock !== undefined) refuseTooMuchStock(product, stock, current)
  const plan = attributes && planAttributes(product, product.options, attributes, current)
  return {
    stock,
    changes: planChanges(current, body, plan?.attributes),
    options: plan?.options ?? product.options,
    extended: plan?.extended ?? [],
  }
}

interface VariantUpdate {
  readonly productId: string
  readonly id: string
  readonly changes: VariantChanges
  readonly stock: number | undefined
  readonly extended: readonly ExtendedOption[]
  readonly version: number
  readonly updatedAt: Date
}

/**
 * Writes what an update changes, in one statement, and returns the variant's stock; undefined when nothing changed. Stock is
 * compared where it is written, since orders take it meanwhile, and is left alone when none is sent. Throws `conflict` for a
 * SKU that is taken (OP-15); one taken at this very moment fails on its unique constraint, and the transaction runs again.
 */
async function writeVariant(tx: Transaction, update: VariantUpdate): Promise<number | undefined> {
  const { changes, id, productId, stock = null, version, updatedAt } = update
  const { sku = null, price, cost, attributes } = changes
  const workspace = tx.context.workspaceId
  const [result] = await tx<[{ stock: number | null; isSkuTaken: boolean }]>`
    with taken as (
      select from variant where workspace_id = ${workspace} and sku = ${sku} and id <> ${id}
    ), ${extendOptions(tx, productId, update.extended)}, changed as (
      update variant set
        sku = coalesce(${sku}, sku), stock = coalesce(${stock}, stock),
        price = coalesce(${json(price)}::text::jsonb, price), cost = coalesce(${json(cost)}::text::jsonb, cost),
        attributes = coalesce(${json(attributes)}::text::jsonb, attributes)
      where workspace_id = ${workspace} and id = ${id} and not exists (select from taken)
        and (${Object.keys(changes).length > 0} or stock <> ${stock})
      returning stock
    ), changed_product as (
      update product set version = ${version}, updated_at = ${updatedAt}
      where workspace_id = ${workspace} and id = ${productId} and exists (select from changed)
    )
    select (select stock from changed) as stock, exists (select from taken) as "isSkuTaken"`
  if (result.isSkuTaken) throw skuTaken(changes.sku)
  return result.stock ?? undefined
}

const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
