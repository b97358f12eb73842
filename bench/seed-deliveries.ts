import postgres from 'postgres'
import type { Api } from './api.ts'

export const DELIVERIES = 5_000_000
/** Deliveries of the first endpoint; the others share the rest evenly. */
export const DELIVERIES_OF_THE_FIRST = 1_000_000
const ENDPOINTS = 50
const URL_OF_NOBODY = 'http://127.0.0.1:9/'
const DAYS = 30
const EVENTS = DELIVERIES_OF_THE_FIRST
const EVENT_EVERY_S = (DAYS * 24 * 60 * 60) / EVENTS
/** Deliveries of an event to endpoints other than the first. */
const OTHERS = DELIVERIES / EVENTS - 1
const CHUNK = 100_000
/** One connection per shard of the counts writes the deliveries of an endpoint and hour. */
const SIDE_BY_SIDE = 8

/** A hundred types, each as often as its percentage. */
const TYPES = Object.entries({
  'product.updated': 50,
  'order.updated': 20,
  'order.created': 10,
  'order.paid': 5,
  'invoice.paid': 5,
  'product.created': 5,
  'customer.updated': 4,
  'product.deleted': 1,
}).flatMap(([type, percent]) => Array.from({ length: percent }, () => type))

/** Creates the endpoints that share the deliveries, and returns their ids. They get no events. */
export async function addEndpoints(api: Api): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < ENDPOINTS) {
    const body = { url: URL_OF_NOBODY, enabled_events: ['tag.deleted'] }
    ids.push((await api.post<{ id: string }>('/v1/webhooks', body)).id)
  }
  return ids
}

/**
 * Fills the workspace of these endpoints with deliveries of the 30 days up to now: 90 % DELIVERED, 8 % FAILED, 2 %
 * PENDING. Returns a function from a share (0 to 1) of the deliveries to the time since which that share was created.
 */
export async function seedDeliveries(postgresUrl: string, workspaceId: string, endpointIds: readonly string[]) {
  const sql = postgres(postgresUrl, {
    max: SIDE_BY_SIDE,
    onnotice: () => undefined,
    connection: { search_path: 'webhook_delivery' },
  })
  const end = new Date()
  // As if the service had run all the time.
  await sql.begin(async (tx) => {
    await tx`set local role backoffice_migrator`
    await tx`
      select add_partition(parent, (day at time zone 'UTC')::date)
      from unnest(array['event', 'delivery', 'attempt']) as parent,
        generate_series(${end}::timestamptz - make_interval(days => ${DAYS}), ${end}::timestamptz, '1 day') as day
      where to_regclass(parent || to_char(day at time zone 'UTC', '_YYYYMMDD')) is null`
  })
  const [first = '', ...others] = endpointIds
  const seedShare = async (share: number) => {
    for (let from = 0; from < EVENTS; from += CHUNK) {
      await seedChunk(sql, { workspaceId, first, others, from: from + share, to: from + CHUNK - 1, end })
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, share) => seedShare(share)))
  // As the service does every hour.
  const merge = () => sql<[{ merged: number }]>`select merge_delivery_counts(5000)::integer as merged`
  while ((await merge())[0].merged > 0);
  await sql.unsafe('vacuum analyze event, delivery, hourly_delivery_count')
  await sql.end()
  return (share: number) => new Date(end.getTime() - share * DAYS * 24 * 60 * 60 * 1000).toISOString()
}

interface Chunk {
  readonly workspaceId: string
  readonly first: string
  readonly others: readonly string[]
  /** Every eighth of these events, counted from the oldest. */
  readonly from: number
  readonly to: number
  readonly end: Date
}

/** Inserts events without a body, and deliveries without attempts. PENDING deliveries are due long after the run. */
const seedChunk = (sql: postgres.Sql, { workspaceId, first, others, from, to, end }: Chunk) => sql`
  with event as materialized (
    select n, abs(hashint4(n)) as hash, shift, uuidv7(shift) as id, (${TYPES}::text[])[abs(hashint4(n)) % 100 + 1] as type
    from generate_series(${from}::int, ${to}::int, ${SIDE_BY_SIDE}) as n, lateral (
      select ${end}::timestamptz - clock_timestamp() - (${EVENTS} - n) * make_interval(secs => ${EVENT_EVERY_S}) as shift
    ) as aged
  ), delivery as materialized (
    select event.id as event_id, uuidv7(shift) as id, type as event_type,
      case k
        when 0 then ${first}::uuid
        else (${[...others]}::uuid[])[(n::bigint * ${OTHERS} + k) % ${others.length} + 1]
      end as endpoint_id,
      case
        when hash / 100 % 100 < 90 then 'DELIVERED'
        when hash / 100 % 100 < 98 then 'FAILED'
        else 'PENDING'
      end as status
    from event, generate_series(0, ${OTHERS}) as k
  ), added as (
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select ${workspaceId}, id, type, gen_random_uuid(), '{}', uuid_extract_timestamp(id) from event
  )
  insert into delivery (
    workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, next_attempt_at, created_at, delivered_at
  )
  select
    ${workspaceId}, endpoint_id, id, event_id, event_type, status, 1,
    case status when 'PENDING' then ${end}::timestamptz + interval '30 days' end,
    uuid_extract_timestamp(id), case status when 'DELIVERED' then uuid_extract_timestamp(id) end
  from delivery`
