import type { AnySql } from '@backoffice/postgres/database.ts'

/** The channel on which processes hear of endpoints that something became due for. */
export const DUE_CHANNEL = 'webhook_delivery_due'
/** Ids in one notification: its text has less than 8,000 bytes. */
const ENDPOINTS_A_NOTIFICATION = 200

/** First attempts that a process has written and keeps in memory until it hears of them itself. */
export interface Written {
  /** Tells the process which ones; no other process knows it. */
  readonly token: string
  /** The least id of these deliveries. */
  readonly firstId: string
}

/**
 * Tells the owners of these endpoints, once the transaction commits, that deliveries have become due. All processes
 * hear of all commits in one order. A notification that is lost delays them: the owner looks into the table itself
 * about once a second.
 */
export async function notifyDue(tx: AnySql, endpointIds: readonly string[], written?: Written): Promise<void> {
  if (endpointIds.length === 0) return
  const what = `${written?.token ?? ''} ${written?.firstId ?? ''} `
  await tx`
    select pg_notify(${DUE_CHANNEL}, ${what}::text || string_agg(id, ',')) from (
      select id, (row_number() over () - 1) / ${ENDPOINTS_A_NOTIFICATION}::integer as part
      from unnest(${[...endpointIds]}::text[]) as id
    ) as due group by part`
}

/** What a notification says. */
export interface Notification {
  readonly written: Written | undefined
  readonly endpointIds: readonly string[]
}

export function readNotification(payload: string): Notification {
  const [token = '', firstId = '', ids = ''] = payload.split(' ')
  return { written: token === '' ? undefined : { token, firstId }, endpointIds: ids.split(',') }
}
