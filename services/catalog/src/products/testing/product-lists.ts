import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { createProduct } from '../create-product.ts'
import { deleteProduct } from '../delete-product.ts'
import { listProducts } from '../list-products.ts'
import { updateProduct } from '../update-product.ts'
import { createWith } from './create-with.ts'
import { aSimpleProduct } from './product-samples.ts'

export interface ProductList {
  page: number
  size: number
  total: number
  total_pages: number
  has_next_page: boolean
  has_previous_page: boolean
  items: Product[]
}

/** Lists of products over a database of their own. */
export async function listApi() {
  const database = await testDatabase('catalog')
  const send = serviceClient(database.db, [createProduct, updateProduct, deleteProduct, listProducts])
  const list = async (caller: Caller, query = ''): Promise<ProductList> => {
    const { status, body } = await send<ProductList>(caller, 'GET', `/v1/products?${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body
  }
  return {
    ...database,
    send,
    list,
    names: async (caller: Caller, query = '') => (await list(caller, query)).items.map(({ name }) => name),
    create: (caller: Caller, members: Record<string, unknown> = {}) =>
      createWith(send, caller, aSimpleProduct(members)),

    /**
     * Gives the workspace products 60 ms apart, of which many share a status, a name or a time of change. The fifth of
     * every ten are in the category `tenth`, have the tag `tenth` and a variant each, `item-4`, `item-14`, …
     */
    async seed({ workspaceId }: Caller, count: number) {
      const workspace = database.admin`${workspaceId}::uuid`
      await database.admin`
        with new as materialized (
          select n, uuidv7((n - ${count}) * interval '60 ms') as id from generate_series(0, ${count - 1}::int) as n
        ), new_product as (
          insert into product (
            workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at
          )
          select
            ${workspace}, id, format('Item %s Kind%s', n % 40, n % 7), format('item-%s-x', n),
            case n % 5 when 0 then 'VARIABLE_PRODUCT' else 'SIMPLE_PRODUCT' end,
            case n % 10 when 3 then 'HIDDEN' else 'ACTIVE' end,
            true, false, uuid_extract_timestamp(id), timestamptz '2026-01-01' + n % 33 * interval '1 hour'
          from new
        ), new_variant as (
          insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
          select ${workspace}, uuidv7(), id, concat('item-', n), 0, '{}', '{}', '{}', 1 from new where n % 10 = 4
        ), new_category as (
          insert into category (workspace_id, id, name, slug, created_at, updated_at)
          values (${workspace}, uuidv7(), 'Tenth', 'tenth', now(), now()) returning id
        ), new_tag as (
          insert into tag (workspace_id, id, name, slug)
          values (${workspace}, uuidv7(), 'Tenth', 'tenth') returning id
        ), new_member as (
          insert into product_category (workspace_id, product_id, category_id, position)
          select ${workspace}, new.id, new_category.id, 1 from new, new_category where n % 10 = 4
        )
        insert into product_tag (workspace_id, product_id, tag_id, position)
        select ${workspace}, new.id, new_tag.id, 1 from new, new_tag where n % 10 = 4`
    },
  }
}
