import type { Category } from '@backoffice/contracts/product.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { noSuchCategory } from './category-input.ts'

/** How much of the tree a change of a category is about. */
export interface LockedPart {
  /** Whether parents are changed or looked at: such changes of one workspace follow each other. */
  readonly tree: boolean
  /** Whether what the direct children show changes with it. */
  readonly children: boolean
}

/**
 * Locks a category until the transaction ends, so that no product joins it meanwhile, and returns it as it is then; throws
 * `not_found`. What else is there must be read in a later statement: this one's snapshot may be older than what it waited for.
 * A category has no product or a million: the statements that follow are planned for this one and may take their time.
 */
export async function lockCategory(tx: Transaction, id: string, { tree, children }: LockedPart): Promise<Category> {
  const workspace = tx.context.workspaceId
  const rows = await tx<(Category & { isAsked: boolean })[]>`
    select id, name, slug, parent_id as parent, position, id = ${id} as "isAsked"
    from (
      select
        case when ${tree} then pg_advisory_xact_lock(hashtextextended(${`${workspace} categories`}, 0))::text end,
        set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('statement_timeout', '120s', true)
    ) as set_up, category
    where workspace_id = ${workspace} and (id = ${id} or (${children} and parent_id = ${id}))
    order by id for update of category`
  const asked = rows.find(({ isAsked }) => isAsked)
  if (asked === undefined) throw noSuchCategory(id)
  const { isAsked: _, ...category } = asked
  return category
}
