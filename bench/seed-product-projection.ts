import { randomUUID } from 'node:crypto'
import { type Collection, SORT_ORDERS } from '@backoffice/contracts/collection.ts'
import type { CategoryReference } from '@backoffice/contracts/product.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import postgres from 'postgres'
import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { DESCRIPTION } from './product-states.ts'

export const PRODUCTS = 1_000_000
/** The number of SMART collections. Each has the products of one category, and each product has one category. */
const COLLECTIONS = 500
const CHUNK = 50_000

/** A category, and the collection of its products. */
export interface SeededCollection {
  readonly id: string
  readonly category: CategoryReference
}

/** The workspace and databases that collections are measured in. */
export interface CollectionPlace {
  /** Calls the gateway for the workspace. */
  readonly api: Api
  readonly workspaceId: string
  /** Connects as the service, inside workspaces. */
  readonly databaseUrl: string
  /** Connects as the service's worker, across workspaces. */
  readonly workerUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
  /** The description of the stack. */
  description(): StackDescription
}

/**
 * Fills a workspace. The API creates SMART collections while there are no products, which costs nothing. Then come the
 * projection of products, one a second up to now, and the members, as the consumer would write them.
 */
export async function seedProductProjection({ api, workspaceId, postgresUrl }: CollectionPlace) {
  const collections = await createCollections(api)
  const sql = postgres(postgresUrl, {
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: 'collections', work_mem: '256MB' },
  })
  const end = new Date()
  for (let from = 0; from < PRODUCTS; from += CHUNK) await seedProducts(sql, { workspaceId, collections, from, end })
  await seedMembers(sql, workspaceId, collections)
  await sql.unsafe('vacuum analyze product, collection_member, collection_member_count, membership_version, collection')
  await sql.end()
  return collections
}

async function createCollections(api: Api): Promise<SeededCollection[]> {
  const collections: SeededCollection[] = []
  await closedLoop(COLLECTIONS, 1, async (index) => {
    const category = aCategory(index)
    const { id } = await api.post<Collection>('/v1/collections', {
      name: category.name,
      published: true,
      membership_type: 'SMART',
      sort_order: SORT_ORDERS[index % SORT_ORDERS.length],
      rules: rulesOf(category),
    })
    collections.push({ id, category })
  })
  return collections
}

const aCategory = (index: number): CategoryReference => ({
  id: randomUUID(),
  name: `Category ${index}`,
  slug: `category-${index}`,
  parent: null,
  parent_slug: null,
})

/** Rules that the products of the category match. Other products match all conditions except the last. */
const rulesOf = ({ slug }: CategoryReference) => ({
  match: 'all',
  conditions: [
    { field: 'name', operator: 'contains', value: 'Item' },
    { field: 'price.NGN', operator: 'gte', value: 450_000 },
    { field: 'stock', operator: 'gte', value: 0 },
    { field: 'sku', operator: 'starts_with', value: 'list-' },
    { field: 'category', operator: 'eq', value: slug },
  ],
})

interface Chunk {
  readonly workspaceId: string
  readonly collections: readonly SeededCollection[]
  /** The index of its first product, counted from the oldest. */
  readonly from: number
  readonly end: Date
}

/** Product n has stock n % 100; one of a hundred is HIDDEN. */
const seedProducts = (sql: postgres.Sql, { workspaceId, collections, from, end }: Chunk) => sql`
  with category as materialized (
    select ordinal::integer - 1 as k, reference
    from json_array_elements(${JSON.stringify(collections.map(({ category }) => category))}::text::json)
      with ordinality as sent (reference, ordinal)
  ),
  new as materialized (
    select n, uuidv7(${end}::timestamptz - clock_timestamp() - (${PRODUCTS} - n) * interval '1 s') as id,
      format('Item Adjective%s Noun%s %s', abs(hashint4(n)) % 10, abs(hashint4(n)) / 10 % 100, n) as name,
      case n % 100 when 1 then 'VIRTUAL_PRODUCT' else 'SIMPLE_PRODUCT' end as type,
      case n % 100 when 2 then 'HIDDEN' else 'ACTIVE' end as status,
      n % 100 as stock, concat('list-', n) as sku, 450000 + n % 1000 as amount
    from generate_series(${from}::integer, ${from + CHUNK - 1}::integer) as n
  )
  insert into product (
    workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
    can_preorder, created_at, body
  )
  select ${workspaceId}, new.id, 1, lower(name), concat(E'\\n', sku, E'\\n'), type, status,
    array[reference ->> 'id', reference ->> 'slug'], '{}', jsonb_build_object('NGN', array[amount]), '{}', stock, true, false,
    uuid_extract_timestamp(new.id), json_build_object(
      'id', new.id, 'name', name, 'status', status, 'type', type, 'description', ${DESCRIPTION}::text,
      'category', reference ->> 'name', 'categories', array[reference], 'requires_shipping', true, 'can_preorder', false,
      'total_stock', stock, 'price_range', json_build_object('min', price, 'max', price), 'options', '[]'::json,
      'media', '[]'::json, 'variants', array[json_build_object(
        'id', gen_random_uuid(), 'sku', sku, 'stock', stock, 'price', price, 'attributes', '{}'::json
      )],
      'created_at', created_at, 'updated_at', created_at
    )
  from new join category on k = n % ${COLLECTIONS}::integer, lateral (
    select json_build_object('NGN', amount) as price,
      to_char(uuid_extract_timestamp(new.id) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
  ) as written`

/** Inserts the members of every collection, one collection after the other. */
const seedMembers = (sql: postgres.Sql, workspaceId: string, collections: readonly SeededCollection[]) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
  select ${workspaceId}, number, product.id, 0, sort_key(sort_order, name, created_at, stock, 0, 0),
    status = 'ACTIVE'
  from unnest(
    ${collections.map(({ id }) => id)}::uuid[], ${collections.map(({ category }) => category.slug)}::text[]
  ) as gathering (collection_id, slug)
  join membership_version using (collection_id)
  join product on product.workspace_id = membership_version.workspace_id and product.categories[2] = slug
  where membership_version.workspace_id = ${workspaceId} and state = 'CURRENT'
  order by number, product.id`
