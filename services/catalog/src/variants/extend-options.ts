import type { Transaction } from '@backoffice/postgres/database.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { resolveReferences } from '../products/references.ts'
import type { ExtendedOption } from './plan-variant.ts'

/**
 * The options that the first variant gives a product without any, in the order sent (OP-22): the workspace's of these names,
 * made where missing, without values so far.
 */
export async function defineOptions(
  tx: Transaction,
  product: ProductRecord,
  names: readonly string[],
  now: Date,
): Promise<ProductRecord['options']> {
  const wanted = {
    options: names.map((name) => ({ name, values: [] })),
    categoryIds: [],
    categorySlugs: [],
    categoryName: undefined,
    tags: [],
    assetIds: [],
  }
  const { found } = await resolveReferences(tx, wanted, product.id, now)
  const idByName = new Map(found.options.map(({ id, name }) => [name, id]))
  return names.map((name) => ({ id: idByName.get(name) ?? '', name, values: [] }))
}

/**
 * Common table expressions for a statement that writes a variant: they give a product's options the values that the variant
 * adds, and the workspace's options those they miss, each once (OP-22, OP-24). Options the product does not have become its.
 */
export const extendOptions = (tx: Transaction, productId: string, extended: readonly ExtendedOption[]) => tx`
  extended_option as (
    select * from json_to_recordset(${JSON.stringify(extended)}::text::json)
      as extended (id uuid, position integer, value text, values text[])
  ), new_value as (
    insert into option_value (workspace_id, option_id, value)
    select ${tx.context.workspaceId}, id, value from extended_option order by id, value
    on conflict do nothing
  ), new_chosen_values as (
    insert into product_option (workspace_id, product_id, option_id, position, chosen_values)
    select ${tx.context.workspaceId}, ${productId}, id, position, values from extended_option
    on conflict (workspace_id, product_id, option_id) do update set chosen_values = excluded.chosen_values
  )`
