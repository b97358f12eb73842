import { Id, TimestampInput } from '@backoffice/contracts/fields.ts'
import { FAILURE_CLASSES } from '@backoffice/outbound/failure.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { boundsOf, isWithin } from '@backoffice/postgres/lists/hour-page.ts'
import { NIL } from 'uuid'
import { z } from 'zod'
import { DELIVERY_STATUSES } from './delivery.ts'

/** What the deliveries of a workspace are found by (OP-249). `created_at` lies from `since` on, and before `until`. */
export const FILTERS = {
  endpoint_id: Id.optional(),
  app: z.string().min(1).max(255).optional(),
  event_id: Id.optional(),
  resource_id: z.string().min(1).max(255).optional(),
  event_type: z.string().min(1).max(255).optional(),
  status: z.array(z.enum(DELIVERY_STATUSES)).min(1).max(DELIVERY_STATUSES.length).nullish(),
  response_status: z.int().min(100).max(599).optional(),
  error_class: z.enum(FAILURE_CLASSES).optional(),
  since: TimestampInput.optional(),
  until: TimestampInput.optional(),
}

type Filters = z.output<z.ZodObject<typeof FILTERS>> & { readonly ids?: readonly string[] | null | undefined }

interface Wanted {
  /** At most so many. */
  readonly size: number
  /** The delivery behind which to begin. */
  readonly after?: string | undefined
  /** A condition on the `endpoint` of the deliveries. */
  readonly endpoints: SqlPart
}

/** Where a delivery is found: its key. */
export interface Place {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
}

/** How many deliveries one request looks at, of all endpoints together; and of each, however many there are. */
const LOOKED_AT = 5000
const LEAST_OF_EACH = 100
/** The deliveries of this many events of a resource are found, the newest. */
const EVENTS_OF_RESOURCE = 500

/**
 * Finds deliveries that pass the filters, newest first. Of each endpoint as many are looked at, in the order of an
 * index; `next` is the delivery behind which nothing was looked at, and null at the end. So a request costs no more
 * where few deliveries match, and finds fewer (OP-249).
 */
export async function findDeliveries(tx: Transaction, filters: Filters, { size, after, endpoints }: Wanted) {
  const { workspaceId } = tx.context
  const { endpoint_id, app } = filters
  const passes = whatNoIndexServes(tx, filters)
  const [{ found, end }] = await tx<[{ found: Place[]; end: string | null }]>`
    with asked as materialized (
      select id from endpoint
      where workspace_id = ${workspaceId} and ${endpoints} ${endpoint_id === undefined ? tx`` : tx`and id = ${endpoint_id}`}
        ${app === undefined ? tx`` : tx`and ${isOfApp(tx, app)}`}
    ), share as materialized (
      select least(
        ${passes === undefined ? size + 1 : LOOKED_AT},
        greatest(${LEAST_OF_EACH}, ${LOOKED_AT} / greatest(1, count(*)))
      ) as size
      from asked
    ), looked_at as materialized (${ofEvents(tx, filters, after) ?? ofEachEndpoint(tx, filters, after)}
    ), behind as (
      select id from looked_at where place = (select size from share) order by id desc limit 1
    ), found as (
      select id, endpoint_id, event_id from looked_at as delivery
      where id >= coalesce((select id from behind), ${NIL}::uuid) and ${passes ?? tx`true`}
      order by id desc limit ${size + 1}
    )
    select (select coalesce(json_agg(found order by id desc), '[]') from found) as found, (select id from behind) as end`
  const places = found.slice(0, size)
  return { places, next: found.length > size ? (places.at(-1)?.id ?? null) : end }
}

/** A condition on `endpoint`: a key of the app with this provider made it, in whichever of its installations. */
const isOfApp = (tx: Transaction, provider: string) => tx`made_by in (
  select app_key.id from app_installation
  join app_key on app_key.workspace_id = app_installation.workspace_id and app_key.installation_id = app_installation.id
  where app_installation.workspace_id = ${tx.context.workspaceId} and app_installation.provider = ${provider}
)`

const COLUMNS = ['id', 'endpoint_id', 'event_id', 'event_type', 'status', 'attempts_made']

/** The newest deliveries of each endpoint, as many as is its share; `place` numbers them. */
const ofEachEndpoint = (tx: Transaction, filters: Filters, after: string | undefined) => tx`
  select delivery.* from asked cross join lateral (
    select ${tx(COLUMNS)}, row_number() over (order by id desc) as place from delivery
    where workspace_id = ${tx.context.workspaceId} and endpoint_id = asked.id and ${whatIndexesServe(tx, filters, after)}
    order by id desc limit (select size from share)
  ) as delivery`

/** All deliveries of the event or resource asked for; undefined where none is. */
function ofEvents(tx: Transaction, filters: Filters, after: string | undefined): SqlPart | undefined {
  const { event_id, resource_id } = filters
  const { workspaceId } = tx.context
  if (event_id === undefined && resource_id === undefined) return undefined
  const events = tx`
    select id from event where workspace_id = ${workspaceId}
      ${event_id === undefined ? tx`` : tx`and id = ${event_id}`} ${resource_id === undefined ? tx`` : tx`and key = ${resource_id}`}
    order by id desc limit ${EVENTS_OF_RESOURCE}`
  return tx`
    select delivery.* from (${events}) as event cross join lateral (
      select ${tx(COLUMNS)}, null::bigint as place from delivery
      where workspace_id = ${workspaceId} and event_id = event.id and endpoint_id in (select id from asked)
        and ${whatIndexesServe(tx, filters, after)}
      offset 0
    ) as delivery`
}

const whatIndexesServe = (tx: Transaction, { status, ids, ...times }: Filters, after: string | undefined) => tx`
  ${isWithin(tx, 'id', boundsOf(tx, times))} ${after === undefined ? tx`` : tx`and id < ${after}`}
  ${status?.every((one) => one === 'FAILED') ? tx`and status = 'FAILED'` : tx``}
  ${ids ? tx`and id = any(${[...ids]}::uuid[])` : tx``}`

/** The conditions that deliveries are looked at for one by one; undefined where there are none. */
function whatNoIndexServes(tx: Transaction, { status, event_type, response_status, error_class }: Filters) {
  const lastAttempt = (column: SqlPart) => tx`(
    select ${column} from attempt
    where workspace_id = ${tx.context.workspaceId} and delivery_id = delivery.id and number = delivery.attempts_made
  )`
  const conditions = [
    status?.some((one) => one !== 'FAILED') === true && tx`status = any(${[...status]})`,
    event_type !== undefined && tx`event_type = ${event_type}`,
    response_status !== undefined && tx`${lastAttempt(tx`response_status`)} = ${response_status}`,
    error_class !== undefined && tx`${lastAttempt(tx`error_class`)} = ${error_class}`,
  ].filter((condition) => condition !== false)
  return conditions.length === 0 ? undefined : conditions.reduce((all, condition) => tx`${all} and ${condition}`)
}
