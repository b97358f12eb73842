import type { AnySql } from '@backoffice/postgres/database.ts'
import { compileRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'

/** The generation that members are put into. */
export interface Filled {
  readonly workspaceId: string
  readonly number: number
  readonly sortOrder: string
}

/** Which products are looked at: those with greater ids than `after`, up to `last`, or to the end. */
export interface Stretch {
  readonly after: string
  readonly last: string | undefined
}

/** Puts the products that meet the rules into a generation. */
export const insertRuled = (
  sql: AnySql,
  { workspaceId, number, sortOrder }: Filled,
  rules: Rules,
  { after, last }: Stretch,
) => sql`
  insert into member (workspace_id, generation, product_id, position, sort_key, is_available)
  select workspace_id, ${number}::bigint, id, 0, sort_key(${sortOrder}, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from product
  where workspace_id = ${workspaceId} and id > ${after} ${last ? sql`and id <= ${last}` : sql``}
    and ${compileRules(rules).condition(sql)}`

/**
 * Copies hand-picked members from the generation that has them, shown or kept. What was picked stays also while the projection does
 * not know it, as one that is being rebuilt, and comes to its place with its product.
 */
export const insertPicked = (
  sql: AnySql,
  { number, sortOrder }: Filled,
  picks: number,
  { after, last }: Stretch,
) => sql`
  insert into member (workspace_id, generation, product_id, position, tie, sort_key, is_available)
  select member.workspace_id, ${number}::bigint, product_id, position, tie,
    coalesce(sort_key(${sortOrder}, name, created_at, stock, position, tie), ''), coalesce(status = 'ACTIVE', false)
  from member left join product on product.workspace_id = member.workspace_id and product.id = member.product_id
  where member.generation = ${picks} and product_id > ${after} ${last ? sql`and product_id <= ${last}` : sql``}`
