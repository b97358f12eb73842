import { ENDPOINT_STATE } from '@backoffice/contracts/endpoint-state.ts'
import { Timestamp } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'
import { type HealthRow, healthBody, healthSource } from './health-rows.ts'

/** How an endpoint takes its deliveries (OP-256), and the `provider` of its app; null for the workspace's own. */
export const EndpointStatus = namedObject(
  'WebhookEndpointStatus',
  {
    ...ENDPOINT_STATE,
    app: z.string().nullable(),
    success_rate_24h: z.number().min(0).max(1).nullable(),
    p95_ms: z.int().nullable(),
    oldest_pending: Timestamp.nullable(),
    last_success_at: Timestamp.nullable(),
    last_failure: namedObject('WebhookEndpointFailure', {
      at: Timestamp,
      error_class: z.string(),
      response_status: z.int().nullable(),
    }).nullable(),
  },
  {
    state: 'FAILING',
    reason: 'no_success',
    since: '2026-03-02T12:00:30.000Z',
    app: 'example-pay',
    success_rate_24h: 0.25,
    p95_ms: 182,
    oldest_pending: '2026-03-02T03:20:00.000Z',
    last_success_at: '2026-03-01T11:58:00.000Z',
    last_failure: { at: '2026-03-02T12:00:00.000Z', error_class: 'status', response_status: 503 },
  },
)

/** Retries that are looked at, the next ones to be made. */
const RETRIES = 10_000
/** The latest deliveries whose attempts are looked at. */
const LATEST = 200

/** GET /v1/webhooks/{id}/status (extension, OP-231, OP-256): whose an endpoint is and how it takes its deliveries. */
export const getEndpointStatus = operation({
  operationId: 'getWebhookEndpointStatus',
  method: 'GET',
  path: '/v1/webhooks/{id}/status',
  summary: 'Read whose a webhook endpoint is, and how it takes its deliveries',
  scope: 'webhook::read',
  responses: { 200: EndpointStatus },
  openPoints: ['OP-231', 'OP-254', 'OP-256'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) => inWorkspace(async (tx) => ok(await readStatus(tx, id))),
})

/** Reads the status of an endpoint. Throws `not_found`. It takes the same time however many deliveries there are. */
export async function readStatus(tx: Transaction, id: string) {
  const { workspaceId } = tx.context
  const [row] = await tx<HealthRow[]>`
    with retries as materialized (
      select status, created_at from delivery
      where workspace_id = ${workspaceId} and endpoint_id = ${id} and (attempts_made > 0) is true
        and due_at is not null and claimed_by is null
      order by due_at limit ${RETRIES}
    ), untried as materialized (
      select created_at from delivery
      where workspace_id = ${workspaceId} and endpoint_id = ${id} and (attempts_made > 0) is false
        and due_at is not null and claimed_by is null
      order by due_at limit 1
    ), settled as (
      select sum(deliveries) as all, sum(deliveries) filter (where status = 'DELIVERED') as delivered from hourly_delivery_count
      where workspace_id = ${workspaceId} and endpoint_id = ${id} and status <> 'PENDING' and hour > now() - interval '1 day'
    ), latest as (
      select id from delivery
      where workspace_id = ${workspaceId} and endpoint_id = ${id} and id >= least_id(now() - interval '1 day')
      order by id desc limit ${LATEST}
    )
    select health.state, health.reason, coalesce(health.since, endpoint.created_at) as since, provider as app,
      (
        select round(coalesce(delivered, 0) / nullif(coalesce(settled.all, 0) + (
          select count(*) from retries where status = 'PENDING' and created_at > now() - interval '1 day'
        ), 0), 4) from settled
      )::float8 as success_rate_24h,
      (
        select percentile_disc(0.95) within group (order by duration_ms) from latest
        join attempt on attempt.workspace_id = ${workspaceId} and attempt.delivery_id = latest.id
      ) as p95_ms,
      least(
        (select created_at from untried), (select min(created_at) from retries where status = 'PENDING')
      ) as oldest_pending,
      last_success_at, last_failed_at, last_failure
    ${healthSource(tx)}
    where health.workspace_id = ${workspaceId} and health.endpoint_id = ${id}`
  if (row === undefined) throw noSuchEndpoint(id)
  return healthBody(row)
}
