import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type ProductRecord, productBody } from './product-view.ts'

/** GET /v1/products/{id} (extension of OP-19). */
export const getProduct = operation({
  method: 'GET',
  path: '/v1/products/{id}',
  summary: 'Read a product',
  scope: 'product::read',
  params: z.strictObject({ id: Id }),
  responses: { 200: Product },
  openPoints: ['OP-10', 'OP-11', 'OP-12', 'OP-19'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const product = await readProduct(tx, params.id)
      if (product === undefined) throw notFound(`id: this workspace has no product ${params.id}`)
      return ok(productBody(product))
    }),
})

async function readProduct(tx: Transaction, id: string): Promise<ProductRecord | undefined> {
  const workspace = tx.context.workspaceId
  const [product] = await tx<ProductRecord[]>`
    select
      id, name, slug, status, type, description, requires_shipping as "requiresShipping", can_preorder as "canPreorder",
      version, created_at as "createdAt", updated_at as "updatedAt",
      array(
        select json_build_object(
          'id', category.id, 'name', category.name, 'slug', category.slug,
          'parent', category.parent_id, 'parent_slug', parent.slug
        )
        from product_category
        join category on category.workspace_id = ${workspace} and category.id = product_category.category_id
        left join category parent on parent.workspace_id = ${workspace} and parent.id = category.parent_id
        where product_category.workspace_id = ${workspace} and product_category.product_id = product.id
        order by product_category.position
      ) as categories,
      array(
        select json_build_object('id', tag.id, 'name', tag.name, 'slug', tag.slug)
        from product_tag
        join tag on tag.workspace_id = ${workspace} and tag.id = product_tag.tag_id
        where product_tag.workspace_id = ${workspace} and product_tag.product_id = product.id
        order by product_tag.position
      ) as tags,
      array(
        select json_build_object('id', option.id, 'name', option.name, 'values', product_option.chosen_values)
        from product_option
        join option on option.workspace_id = ${workspace} and option.id = product_option.option_id
        where product_option.workspace_id = ${workspace} and product_option.product_id = product.id
        order by product_option.position
      ) as options,
      array(
        select json_build_object(
          'id', id, 'sku', sku, 'stock', stock, 'price', price, 'cost', cost, 'attributes', attributes
        )
        from variant
        where variant.workspace_id = ${workspace} and variant.product_id = product.id
        order by position
      ) as variants
    from product
    where workspace_id = ${workspace} and id = ${id}`
  return product
}
