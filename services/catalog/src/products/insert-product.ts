import { conflict } from '@backoffice/contracts/errors.ts'
import type { CategoryReference, Product, Tag } from '@backoffice/contracts/product.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import type { ProductPlan } from './plan-product.ts'
import type { CreateProductBody } from './product-input.ts'
import type { MediaRecord, ProductRecord } from './product-view.ts'

/** Everything a product is made of, ids resolved. */
export interface NewProduct {
  readonly body: CreateProductBody
  readonly plan: ProductPlan
  readonly slug: string
  readonly options: Product['options']
  readonly categories: CategoryReference[]
  readonly tags: Tag[]
  readonly media: MediaRecord[]
}

/**
 * Inserts a product with all that belongs to it in one statement, whatever the number of variants. A derived slug that is
 * taken gets the family's next number (OP-14). Throws `conflict` for an explicit slug or a SKU that is taken (OP-14, OP-15);
 * one taken at this very moment fails on its unique constraint, and the transaction runs again.
 */
export async function insertProduct(tx: Transaction, product: NewProduct, now: Date): Promise<ProductRecord> {
  const { body, plan, options, categories, tags, media } = product
  const workspace = tx.context.workspaceId
  const id = uuidv7()
  const idByName = new Map(options.map((option) => [option.name, option.id]))
  const variants = plan.variants.map(({ sku, stock, price, cost, attributes }) => ({
    id: uuidv7(),
    sku,
    stock,
    price,
    cost,
    attributes: Object.fromEntries([...attributes].map(([name, value]) => [idByName.get(name) ?? '', value])),
  }))
  const isSlugFixed = typeof body.slug === 'string'
  const [written] = await tx<[{ slug: string | null; taken: string[] }]>`
    with taken as (
      select sku from variant where workspace_id = ${workspace} and sku = any(${plan.variants.map(({ sku }) => sku)})
    ), new_product as (
      insert into product (
        workspace_id, id, name, slug, type, status, description, requires_shipping, can_preorder, preorder_stops_at,
        max_cart_quantity, low_stock_threshold, purchase_note, tax_class, created_at, updated_at
      )
      select
        ${workspace}, ${id}, ${body.name},
        case
          when ${isSlugFixed} or not exists (
            select from product where workspace_id = ${workspace} and slug = ${product.slug}
          ) then ${product.slug}
          else ${product.slug} || '-' || 1 + coalesce(
            (select max(slug_number) from product where workspace_id = ${workspace} and slug_stem = ${product.slug}), 1
          )
        end,
        ${body.type}, ${plan.status}, ${body.description ?? null}, ${plan.requiresShipping}, ${body.can_preorder ?? false},
        ${body.preorder_stops_at ?? null}, ${body.max_cart_quantity ?? null}, ${body.low_stock_threshold ?? null},
        ${body.purchase_note ?? null}, ${body.tax_class ?? null}, ${now}, ${now}
      where not exists (select from taken) and not (
        ${isSlugFixed} and exists (select from product where workspace_id = ${workspace} and slug = ${product.slug})
      )
      returning id, slug
    ), new_variants as (
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      select ${workspace}, new.id, new_product.id, sku, stock, price, cost, attributes, ordinal
      from new_product, rows from (
        json_to_recordset(${JSON.stringify(variants)}::text::json)
          as (id uuid, sku text, stock bigint, price jsonb, cost jsonb, attributes jsonb)
      ) with ordinality as new (id, sku, stock, price, cost, attributes, ordinal)
    ), new_options as (
      insert into product_option (workspace_id, product_id, option_id, position, chosen_values)
      select ${workspace}, new_product.id, new.id, ordinal, chosen_values
      from new_product, rows from (
        json_to_recordset(${JSON.stringify(options.map(({ id, values }) => ({ id, chosen_values: values })))}::text::json)
          as (id uuid, chosen_values text[])
      ) with ordinality as new (id, chosen_values, ordinal)
    ), new_categories as (
      insert into product_category (workspace_id, product_id, category_id, position)
      select ${workspace}, new_product.id, new.id, ordinal
      from new_product, unnest(${categories.map((category) => category.id)}::uuid[]) with ordinality as new (id, ordinal)
    ), new_tags as (
      insert into product_tag (workspace_id, product_id, tag_id, position)
      select ${workspace}, new_product.id, new.id, ordinal
      from new_product, unnest(${tags.map((tag) => tag.id)}::uuid[]) with ordinality as new (id, ordinal)
    ), new_media as (
      insert into media (workspace_id, id, product_id, asset_id, position)
      select ${workspace}, new.id, new_product.id, new.asset, new.position
      from new_product,
        json_to_recordset(${JSON.stringify(media)}::text::json) as new (id uuid, asset uuid, position integer)
    )
    select (select slug from new_product) as slug, array(select sku from taken) as taken`
  if (written.slug === null) throw clash(product, written.taken)
  return {
    id,
    name: body.name,
    slug: written.slug,
    status: plan.status,
    type: body.type,
    description: body.description ?? null,
    requiresShipping: plan.requiresShipping,
    canPreorder: body.can_preorder ?? false,
    preorderStopsAt: body.preorder_stops_at ? new Date(body.preorder_stops_at) : null,
    maxCartQuantity: body.max_cart_quantity ?? null,
    lowStockThreshold: body.low_stock_threshold ?? null,
    purchaseNote: body.purchase_note ?? null,
    taxClass: body.tax_class ?? null,
    version: 1,
    categories,
    tags,
    options,
    media,
    variants,
    createdAt: now,
    updatedAt: now,
  }
}

function clash({ plan, slug }: NewProduct, taken: string[]) {
  const variant = plan.variants.find(({ sku }) => taken.includes(sku))
  if (variant === undefined) return conflict(`slug: "${slug}" belongs to another product of this workspace`)
  return conflict(`${variant.skuPath}: "${variant.sku}" belongs to another product of this workspace`)
}
