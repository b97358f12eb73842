import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { addDeletedProducts } from './delete-products.ts'
import type { ProductChange } from './write-products.ts'

/** Queues changes, under the partition's lock. A deletion is also remembered at once: no late state undoes it. */
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

const queued = gauge(
  'collections_queued_products',
  'Products whose state waits to be applied (waiting), or cannot be (refused); each up to ten thousand',
)
const oldest = gauge(
  'collections_oldest_queued_seconds',
  'Age of the oldest queued state that waits to be applied, among the first ten thousand',
  's',
)

/** Measures the queued products: until they are applied the projection is older than its topic. */
export const measureQueue = (db: Database, logger: Logger) =>
  measureRows('queued products', db, logger, async (tx) => {
    const [found] = await tx<[{ waiting: number; refused: number; seconds: number }]>`
      with waiting as materialized (
        select queued_at from queued_product where refused is null order by workspace_id, queued_at limit ${MEASURED_ROWS}
      )
      select
        (select count(*) from waiting)::integer as waiting,
        (
          select count(*) from (select from queued_product where refused is not null limit ${MEASURED_ROWS}) as refused
        )::integer as refused,
        coalesce((select extract(epoch from now() - min(queued_at)) from waiting), 0)::float8 as seconds`
    queued.record(found.waiting, { state: 'waiting' })
    queued.record(found.refused, { state: 'refused' })
    oldest.record(Math.max(0, found.seconds))
  })
