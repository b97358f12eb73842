import type { AnySql } from '@backoffice/postgres/database.ts'

/** The channel on which processes hear of endpoints that something became due for. */
export const DUE_CHANNEL = 'webhook_delivery_due'
/** Ids in one notification: its text has less than 8,000 bytes. */
const ENDPOINTS_A_NOTIFICATION = 200

/**
 * Tells the processes that own these endpoints, once the transaction commits, that deliveries have become due. A
 * notification that is lost delays them: the owner looks into the table itself about once a second.
 */
export async function notifyDue(tx: AnySql, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  await tx`
    select pg_notify(${DUE_CHANNEL}, string_agg(id, ',')) from (
      select id, (row_number() over () - 1) / ${ENDPOINTS_A_NOTIFICATION}::integer as part
      from unnest(${[...endpointIds]}::text[]) as id
    ) as due group by part`
}
