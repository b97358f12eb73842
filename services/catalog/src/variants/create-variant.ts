import { conflict } from '@backoffice/contracts/errors.ts'
import { Name } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { Variant } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { oneChangeOn } from '../products/plan-update.ts'
import { VariantInput } from '../products/product-input.ts'
import { variantBody } from '../products/product-view.ts'
import { lockProduct } from '../products/read-products.ts'
import { resolveOptions } from '../products/references.ts'
import { refuseTaken } from '../products/refuse-taken.ts'
import { writeProducts } from '../products/write-products.ts'
import { refuseDefaultVariant, variantOf, withNewVariant } from './plan-variant.ts'

/** A variant of a variable product; `attributes` maps option names to values (OP-22, OP-23). */
export const CreateVariantBody = named('VariantInput', VariantInput.extend({ attributes: z.record(Name, Name) }), {
  sku: 'LINEN-S',
  attributes: { Size: 'S' },
  price: { EUR: 4900 },
  stock: 3,
})

/** POST /v1/products/{id}/variants (extension of OP-19; spec: Update rules 7). */
export const createVariant = operation({
  operationId: 'createVariant',
  method: 'POST',
  path: '/v1/products/{id}/variants',
  summary: 'Add a variant to a variable product',
  scope: 'product::create',
  body: CreateVariantBody,
  responses: { 201: Variant },
  events: ['product.updated'],
  openPoints: ['OP-08', 'OP-11', 'OP-12', 'OP-120', 'OP-15', 'OP-19', 'OP-22', 'OP-23', 'OP-24', 'OP-94'],
  extension: true,

  handle: ({ params, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const before = await lockProduct(tx, params.id, 'NONE')
      refuseDefaultVariant(before)
      const newOptions = before.options.length > 0 ? [] : Object.keys(body.attributes)
      const optionIds = await resolveOptions(tx, newOptions, now)
      const id = newId()
      const after = { ...withNewVariant(before, { id, ...body }, optionIds), ...oneChangeOn(before, now) }
      const change = { before, after }
      await refuseTaken(tx, change, { sku: skuTaken })
      await writeProducts(tx, [change], { events: {}, now: after.updatedAt })
      return created(variantBody(variantOf(after, id)))
    }),
})

/** The SKU belongs to a variant of this or another product (OP-15). */
export const skuTaken = (sku: string) =>
  conflict(['sku'], `"${sku}" belongs to another variant of this workspace`, 'sku_taken')
