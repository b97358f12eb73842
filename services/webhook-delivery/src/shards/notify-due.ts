import type { AnySql, Fragment } from '@backoffice/postgres/database.ts'

/** The channel on which processes hear of endpoints that something became due for. */
export const DUE_CHANNEL = 'webhook_delivery_due'
/** The channel on which they hear of bodies that were redacted. */
export const REDACTED_CHANNEL = 'webhook_delivery_redacted'
/** Ids in one notification: its text has less than 8,000 bytes. */
const ENDPOINTS_A_NOTIFICATION = 200

/** First attempts that a process has written and keeps in memory until it hears of them itself. */
interface Written {
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
export async function notifyDue(tx: AnySql, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  await notifications(tx, tx`select id as endpoint_id, '' as first_id from unnest(${[...endpointIds]}::text[]) as id`)
}

/**
 * A query that notifies of endpoints, which `due` selects as `(endpoint_id, first_id)` in texts. With `token`, the id
 * is the least one of the deliveries that were written with it.
 */
export const notifications = (sql: AnySql, due: Fragment, token?: string) => sql`
  select pg_notify(
    ${DUE_CHANNEL}, coalesce(${token ?? null}::text || ' ' || min(first_id), ' ') || ' ' || string_agg(endpoint_id, ',')
  )
  from (select *, (row_number() over () - 1) / ${ENDPOINTS_A_NOTIFICATION}::integer as part from (${due}) as due) as due
  group by part`

/** What a notification says. */
export interface Notification {
  readonly written: Written | undefined
  readonly endpointIds: readonly string[]
}

export function readNotification(payload: string): Notification {
  const [token = '', firstId = '', ids = ''] = payload.split(' ')
  return { written: token === '' ? undefined : { token, firstId }, endpointIds: ids.split(',') }
}

/** Events of a workspace whose stored bodies have changed: what is in memory of them is to be read again. */
export interface Redaction {
  readonly workspaceId: string
  readonly eventIds: readonly string[]
}

/** A query that tells the owners, once the transaction commits, of redacted bodies; of at most 200 events. */
export const redactedNotification = (sql: AnySql, { workspaceId, eventIds }: Redaction) =>
  sql`select pg_notify(${REDACTED_CHANNEL}, ${`${workspaceId} ${eventIds.join(',')}`})`

export function readRedaction(payload: string): Redaction {
  const [workspaceId = '', ids = ''] = payload.split(' ')
  return { workspaceId, eventIds: ids.split(',') }
}
