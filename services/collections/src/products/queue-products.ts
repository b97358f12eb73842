import type { AnySql } from '@backoffice/postgres/database.ts'
import type { ProductChange } from './apply-products.ts'
import { addDeletedProducts } from './delete-products.ts'

/**
 * Queues changes of different products of one partition, under its lock. A product has one row: its newest state, or
 * the deletion, which is also remembered at once, so that no late state brings the product back meanwhile.
 */
export async function queueProducts(sql: AnySql, partition: number, changes: readonly ProductChange[]): Promise<void> {
  if (changes.length === 0) return
  const deleted = changes.filter(({ state }) => state === null).map(({ id }) => id)
  if (deleted.length > 0) await addDeletedProducts(sql, deleted)
  // One line of text per state: neither an array nor JSON within JSON has to be parsed.
  const states = changes.map(({ state }) => (state ? JSON.stringify(state) : ''))
  await sql`
    insert into queued_product as known (workspace_id, product_id, partition, version, state, bytes)
    select workspace_id, product_id, ${partition}, version, nullif(state, '')::json, coalesce(octet_length(state), 0)
    from rows from (
      unnest(
        ${changes.map(({ workspaceId }) => workspaceId)}::uuid[], ${changes.map(({ id }) => id)}::uuid[],
        ${changes.map(({ state }) => state?.data.version ?? null)}::bigint[]
      ),
      string_to_table(${states.join('\n')}, E'\\n')
    ) as sent (workspace_id, product_id, version, state)
    order by workspace_id, product_id
    on conflict (workspace_id, product_id) do update set
      partition = excluded.partition, version = excluded.version, state = excluded.state, bytes = excluded.bytes, refused = null
    where known.state is not null and (excluded.state is null or excluded.version > known.version)`
}
