import postgres from 'postgres'
import { listProducts } from '../services/catalog/src/products/list-products.ts'
import type { Api } from './api.ts'
import { listLatency } from './list-latency.ts'
import type { Row } from './table.ts'

const PRODUCTS = 1_000_000
const CHUNK = 100_000

interface Place {
  readonly api: Api
  readonly workspaceId: string
  readonly catalogUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
}

/** Measures lists of a workspace with a million products, one at a time, beside the same SQL sent directly. */
export async function measureProductList(place: Place): Promise<Row[]> {
  const since = await seedProductList(place)
  const middle = PRODUCTS / 40
  const lists: [what: string, query: string, bound?: string][] = [
    ['page 1', ''],
    [`page ${middle}`, `page=${middle}`],
    ['last page', `page=${PRODUCTS / 20}`],
    ['by name', 'sort_by=name'],
    [`by name, page ${middle}`, `sort_by=name&page=${middle}`],
    ['by updatedAt', 'sort_by=updatedAt'],
    ['status, 90 %', 'status=ACTIVE'],
    ['status, 90 %, by name', 'status=ACTIVE&sort_by=name'],
    ['status, 1 %', 'status=ARCHIVED'],
    ['type, 1 %', 'type=VIRTUAL_PRODUCT'],
    ['category, 1 %', 'category=category-7'],
    ['category, 10 %', 'category=tenth'],
    ['category, 10 %, by name', 'category=tenth&sort_by=name'],
    ['tag, 1 %', 'tag=tag-7'],
    ['sku', 'sku=list-4711'],
    ['query, some', 'query=4711'],
    ['query, 1 %', 'query=noun71'],
    ['query, 10 %', 'query=adjective7'],
    ['query, all', 'query=item', 'counts all: no bound'],
    ['updated_since, 1 %', `updated_since=${since(0.01)}`],
    ['updated_since, 10 %', `updated_since=${since(0.1)}`],
    ['updated_since, all, by updatedAt', `updated_since=${since(1)}&sort_by=updatedAt&sort_order=asc`],
    ['category, 1 %, and status, 90 %', 'category=category-7&status=ACTIVE', 'joins: no bound'],
  ]
  const rows: Row[] = []
  for (const [what, query, bound = 'p99 ≤ 50 ms'] of lists) rows.push(await measureList(place, what, query, bound))
  return rows
}

async function measureList(
  { postgresUrl: _, catalogUrl, ...place }: Place,
  what: string,
  query: string,
  bound: string,
) {
  const list = { ...place, databaseUrl: catalogUrl, operation: listProducts, path: '/v1/products', query }
  return { name: `list of 1,000,000 products: ${what}`, ...(await listLatency(list)), bound }
}

/**
 * Fills the workspace: one product was created each second up to now, and each was changed once since, in another
 * order. Returns a function from a share (0 to 1) of the products to the time since which that share was changed.
 */
export async function seedProductList({
  workspaceId,
  postgresUrl,
}: Pick<Place, 'workspaceId' | 'postgresUrl'>): Promise<(share: number) => string> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined, connection: { search_path: 'catalog' } })
  const end = new Date()
  const ten = Array.from({ length: 10 }, (_, index) => index)
  await sql`
    insert into category (workspace_id, id, name, slug, created_at, updated_at)
    select ${workspaceId}, uuidv7(), slug, slug, ${end}, ${end}
    from unnest(${['tenth', ...ten.map((n) => `category-${n}`)]}::text[]) as slug`
  await sql`
    insert into tag (workspace_id, id, name, slug)
    select ${workspaceId}, uuidv7(), slug, slug from unnest(${ten.map((n) => `tag-${n}`)}::text[]) as slug`
  for (let from = 0; from < PRODUCTS; from += CHUNK) await seedProducts(sql, workspaceId, from, end)
  await sql.unsafe('vacuum analyze product, variant, product_category, product_tag, product_word, product_count')
  await sql.end()
  return (share) => new Date(end.getTime() - share * PRODUCTS * 1000).toISOString()
}

const seedProducts = (sql: postgres.Sql, workspaceId: string, from: number, end: Date) => sql`
  with new as materialized (
    select n, abs(hashint4(n)) as hash,
      uuidv7(${end}::timestamptz - clock_timestamp() - (${PRODUCTS} - n) * interval '1 s') as id
    from generate_series(${from}::int, ${from + CHUNK - 1}::int) as n
  ), new_product as (
    insert into product (
      workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at
    )
    select
      ${workspaceId}, id, format('Item Adjective%s Noun%s %s', hash % 10, hash / 10 % 100, n), format('list-%s-x', n),
      case n % 100 when 1 then 'VIRTUAL_PRODUCT' else 'SIMPLE_PRODUCT' end,
      case when n % 100 = 2 then 'ARCHIVED' when n % 10 = 3 then 'HIDDEN' else 'ACTIVE' end,
      true, false, uuid_extract_timestamp(id),
      ${end}::timestamptz - (n::bigint * 7919 % ${PRODUCTS}) * interval '1 s'
    from new
  ), new_variant as (
    insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
    select ${workspaceId}, uuidv7(), id, concat('list-', n), 0, '{"NGN": 450000}', '{}', '{}', 1 from new
  ), tagged as (
    insert into product_tag (workspace_id, product_id, tag_id, position)
    select ${workspaceId}, new.id, tag.id, 1
    from new join tag on tag.workspace_id = ${workspaceId} and tag.slug = concat('tag-', n % 100)
  )
  insert into product_category (workspace_id, product_id, category_id, position)
  select ${workspaceId}, new.id, category.id, 1
  from new join category on category.workspace_id = ${workspaceId}
    and slug = any(array[concat('category-', n % 100), case n % 10 when 7 then 'tenth' end])`
