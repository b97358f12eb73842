import { Id } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { ListQuery, pageOf } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { DELIVERY_EXAMPLE, Delivery, deliveryColumns } from './delivery.ts'
import { FILTERS, findDeliveries, type Place } from './find-deliveries.ts'

const EXAMPLE = {
  ...DELIVERY_EXAMPLE,
  endpoint_id: '0198c7a0-0000-7000-8000-000000000053',
  resource_id: '0198c7a0-0000-7000-8000-000000000054',
  response_status: 200,
  error_class: null,
}

/** A delivery among those of all endpoints: of which, about what, and how its last attempt ended (OP-249). */
const WorkspaceDelivery = namedObject(
  'WorkspaceDelivery',
  {
    ...Delivery.shape,
    endpoint_id: Id,
    resource_id: z.string(),
    response_status: z.int().nullable(),
    error_class: z.string().nullable(),
  },
  EXAMPLE,
)

/** Some deliveries; `next` is the `after` of the request that goes on, null at the end. */
const WorkspaceDeliveries = namedObject(
  'WorkspaceDeliveries',
  { items: z.array(WorkspaceDelivery), next: Id.nullable() },
  { items: [EXAMPLE], next: null },
)

/** The filters as a query has them: states separated by commas. */
const Query = z.strictObject({
  ...ListQuery.omit({ page: true }).shape,
  ...FILTERS,
  status: z
    .string()
    .transform((text) => text.split(','))
    .pipe(FILTERS.status.unwrap().unwrap())
    .optional(),
  response_status: z
    .string()
    .regex(/^[1-5]\d\d$/, 'must be an integer from 100 to 599')
    .transform(Number)
    .meta({ type: 'integer', minimum: 100, maximum: 599 })
    .optional(),
})

/** GET /v1/deliveries (extension, OP-249): the deliveries of all endpoints that pass the filters, newest first. */
export const listAllDeliveries = operation({
  operationId: 'listDeliveries',
  method: 'GET',
  path: '/v1/deliveries',
  summary: 'List the deliveries of all webhook endpoints',
  scope: 'webhook::read',
  query: Query,
  responses: { 200: WorkspaceDeliveries },
  openPoints: ['OP-66', 'OP-249', 'OP-285'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { size, after } = pageOf(query)
      const { places, next } = await findDeliveries(tx, query, { size, after, endpoints: tx`true` })
      const items = places.length === 0 ? [] : await readFound(tx, placesOf(tx, places))
      return ok({ items, next })
    }),
})

/** Places as a query has them. */
export const placesOf = (tx: Transaction, places: readonly Place[]): SqlPart => tx`
  select * from json_to_recordset(${JSON.stringify(places)}::text::json) as place (id uuid, endpoint_id uuid, event_id uuid)`

/** Each by its key: joined as tables, they may be read as a whole. */
const readFound = (tx: Transaction, places: SqlPart) => tx`
  select ${deliveryColumns(tx)}, delivery.endpoint_id, event.key as resource_id, attempt.response_status, attempt.error_class
  from (${places}) as place
  cross join lateral (
    select * from delivery
    where workspace_id = ${tx.context.workspaceId} and endpoint_id = place.endpoint_id and id = place.id and event_id = place.event_id
    limit 1
  ) as delivery
  cross join lateral (
    select key from event where workspace_id = delivery.workspace_id and id = delivery.event_id limit 1
  ) as event
  left join lateral (
    select response_status, error_class from attempt
    where workspace_id = delivery.workspace_id and delivery_id = delivery.id and number = delivery.attempts_made limit 1
  ) as attempt on true
  order by delivery.id desc`
