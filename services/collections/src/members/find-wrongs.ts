import type { TestDatabase } from '@backoffice/testing/database.ts'

interface Wrong {
  wrong: string
  collection: string
  product: string | null
}

/** What of a workspace's members and counts is not as its products say; what is KEPT is looked at when it is shown again. For tests. */
export const findWrongs = (admin: TestDatabase['admin'], workspaceId: string) => admin<Wrong[]>`
  with placed as (
    select member.*, state, sort_key(generation.sort_order, name, created_at, stock, position, tie) as right_key, status
    from generation
    join member on member.collection_id = generation.collection_id and member.generation = generation.number
    left join product on product.workspace_id = member.workspace_id and product.id = member.product_id
    where generation.workspace_id = ${workspaceId} and generation.state <> 'OLD'
  ),
  counted as (
    select collection_id, number, (
      select coalesce(sum(available), 0) from member_count
      where member_count.collection_id = generation.collection_id and member_count.generation = number
    ) as kept, (
      select count(*) from placed where placed.collection_id = generation.collection_id and generation = number and is_available
    ) as found
    from generation where workspace_id = ${workspaceId} and state <> 'OLD'
  )
  select 'no such product' as wrong, collection_id as collection, product_id as product from placed where status is null
  union all
  select 'place', collection_id, product_id from placed where state <> 'KEPT' and sort_key <> right_key
  union all
  select 'availability', collection_id, product_id from placed where state <> 'KEPT' and is_available <> (status = 'ACTIVE')
  union all
  select 'count ' || kept || ', not ' || found, collection_id, null from counted where kept <> found`
