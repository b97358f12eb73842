import type { AnySql } from '@backoffice/postgres/database.ts'
import type { CompiledRules } from '../rules/compile.ts'

/** The membership version that gets the members. */
export interface TargetVersion {
  readonly workspaceId: string
  readonly number: number
  readonly sortOrder: string
}

/** Product ids greater than `after`, up to and including `last`; without `last` all that follow. */
export interface IdRange {
  readonly after: string
  readonly last: string | undefined
}

/** Inserts the products of a range that match the rules as members. */
export const insertMatchingProducts = (
  sql: AnySql,
  { workspaceId, number, sortOrder }: TargetVersion,
  rules: CompiledRules,
  { after, last }: IdRange,
) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
  select workspace_id, ${number}::bigint, id, 0, sort_key(${sortOrder}, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from product
  where workspace_id = ${workspaceId} and id > ${after} ${last ? sql`and id <= ${last}` : sql``}
    and ${rules.toSql(sql)}`

/**
 * Copies hand-picked members from the membership version `source`. Members without a product in the projection are
 * copied as unavailable: a rebuild may add the product later, and its member is updated then.
 */
export const copyHandPickedMembers = (
  sql: AnySql,
  { number, sortOrder }: TargetVersion,
  source: number,
  { after, last }: IdRange,
) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, tie_breaker, sort_key, is_available)
  select member.workspace_id, ${number}::bigint, product_id, position, tie_breaker,
    coalesce(sort_key(${sortOrder}, name, created_at, stock, position, tie_breaker), ''), coalesce(status = 'ACTIVE', false)
  from collection_member as member
  left join product on product.workspace_id = member.workspace_id and product.id = member.product_id
  where version_number = ${source} and product_id > ${after} ${last ? sql`and product_id <= ${last}` : sql``}`
