import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { mostBytesOf, refuseLarge } from '@backoffice/postgres/lists/sized-rows.ts'
import { z } from 'zod'
import { DELIVERY_EXAMPLE, Delivery, deliveryColumns } from './delivery.ts'
import { cutTo, jsonBytes, type ShownBody } from './shown-bodies.ts'

const Headers = z.record(z.string(), z.string())

/** One attempt as it went: what was sent, what came back, what went wrong (OP-60, OP-66). */
const AttemptDetail = named(
  'DeliveryAttempt',
  z.strictObject({
    number: z.int(),
    at: Timestamp,
    duration_ms: z.int(),
    request: named(
      'AttemptRequest',
      z.strictObject({
        url: z.string(),
        headers: Headers,
        body: z.string(),
        /** Whether the body was cut (OP-122). */
        truncated: z.boolean(),
      }),
    ),
    response: named(
      'AttemptResponse',
      z.strictObject({ status: z.int(), headers: Headers, body: z.string(), truncated: z.boolean() }),
    ).nullable(),
    error: named('AttemptError', z.strictObject({ class: z.string(), message: z.string() })).nullable(),
  }),
)

const DeliveryDetail = named(
  'DeliveryDetail',
  z.strictObject({ ...Delivery.shape, attempts: z.array(AttemptDetail) }),
  {
    ...DELIVERY_EXAMPLE,
    attempts: [
      {
        number: 1,
        at: '2026-03-01T12:05:00.000Z',
        duration_ms: 182,
        request: {
          url: 'https://shop.example.com/webhooks',
          headers: { 'webhook-id': DELIVERY_EXAMPLE.event_id },
          body: '{"id":"…"}',
          truncated: false,
        },
        response: { status: 200, headers: {}, body: 'ok', truncated: false },
        error: null,
      },
    ],
  },
)

/** A delivery of an endpoint, in paths. */
export const DeliveryPath = z.strictObject({ id: Id, delivery_id: Id })

/** The most bytes of the attempts in an answer: 4 MiB less 64 KiB for the delivery itself (OP-122). */
const MOST_BYTES = 4 * 1024 * 1024 - 64 * 1024
/** The latest resends that are shown, beside all attempts of the schedule (OP-122). */
const RESENDS_SHOWN = 20
/** For attempts before migration 0010, which lack `is_resend`: the first six of a delivery were on the schedule. */
const ON_SCHEDULE = 6

/**
 * GET /v1/webhooks/{id}/deliveries/{delivery_id}: a delivery with its attempts, as they were sent and answered (spec:
 * Webhooks). Bodies are cut so that the answer takes less than 4 MiB, whatever the number of attempts (OP-122).
 */
export const getDelivery = operation({
  operationId: 'getWebhookDelivery',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
  summary: 'Inspect a delivery',
  scope: 'webhook::read',
  params: DeliveryPath,
  responses: { 200: DeliveryDetail },
  openPoints: ['OP-60', 'OP-66', 'OP-77', 'OP-99', 'OP-122', 'OP-139', 'OP-171'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [found] = await selectDelivery(tx, params)
      if (found === undefined) throw noSuchDelivery(params)
      const { body, bytes, ...delivery } = found
      refuseLarge(tx, bytes)
      return ok({ ...delivery, attempts: attemptViews(await selectAttempts(tx, found.id), body) })
    }),
})

export const noSuchDelivery = ({ id, delivery_id }: z.output<typeof DeliveryPath>): ApiError =>
  notFound(['delivery_id'], `webhook endpoint ${id} has no delivery ${delivery_id}`)

/** `bytes` are about those of all attempts, whose bodies are not cut yet; beyond the bound there is no body. */
const selectDelivery = (tx: Transaction, { id, delivery_id }: z.output<typeof DeliveryPath>) => tx<
  { id: string; body: string; bytes: number }[]
>`
  select ${deliveryColumns(tx)}, sized.bytes, case when sized.bytes <= ${mostBytesOf(tx)} then event.body end as body
  from delivery
  join endpoint on endpoint.workspace_id = delivery.workspace_id and endpoint.id = delivery.endpoint_id
  join event on event.workspace_id = delivery.workspace_id and event.id = delivery.event_id
  cross join lateral (
    select octet_length(event.body) * (1 + count(*)) + coalesce(sum(octet_length(response_body)), 0)::bigint as bytes
    from attempt where attempt.workspace_id = delivery.workspace_id and attempt.delivery_id = delivery.id
  ) as sized
  where delivery.workspace_id = ${tx.context.workspaceId} and delivery.endpoint_id = ${id} and delivery.id = ${delivery_id}`

interface AttemptRow {
  number: number
  started_at: Date
  duration_ms: number
  request_url: string
  request_headers: Record<string, string>
  response_status: number | null
  response_headers: Record<string, string | string[]> | null
  response_body: Buffer | null
  response_truncated: boolean | null
  error_class: string | null
  error_message: string | null
}

const selectAttempts = (tx: Transaction, deliveryId: string) => tx<AttemptRow[]>`
  with made as (
    select number, coalesce(is_resend, number > ${ON_SCHEDULE}) as is_resend from attempt
    where workspace_id = ${tx.context.workspaceId} and delivery_id = ${deliveryId}
  ), shown as (
    select number from made where not is_resend
    union all
    (select number from made where is_resend order by number desc limit ${RESENDS_SHOWN})
  )
  select number, started_at, duration_ms, request_url, request_headers, response_status, response_headers, response_body,
    response_truncated, error_class, error_message
  from attempt
  where workspace_id = ${tx.context.workspaceId} and delivery_id = ${deliveryId} and number = any(array(select number from shown))
  order by number`

/**
 * The attempts, cut to MOST_BYTES. `body` is the event's body, the same for every attempt. Answers are shown as UTF-8,
 * even if they are not text. An answer gets half of an attempt's bytes; the event's body gets what is left.
 */
function attemptViews(rows: readonly AttemptRow[], body: string): z.output<typeof AttemptDetail>[] {
  const left = Math.max(0, MOST_BYTES - jsonBytes(rows.map((row) => attemptView(row, NOTHING, NOTHING))))
  const share = left / Math.max(1, rows.length)
  const answered = rows.map(({ response_body }) => cutTo(response_body?.toString('utf8') ?? '', Math.floor(share / 2)))
  const sent = cutTo(body, Math.floor((left - jsonBytes(answered)) / Math.max(1, rows.length)))
  return rows.map((row, index) => attemptView(row, sent, answered[index] ?? NOTHING))
}

const NOTHING: ShownBody = { body: '', truncated: false }

const attemptView = (row: AttemptRow, sent: ShownBody, answered: ShownBody): z.output<typeof AttemptDetail> => ({
  number: row.number,
  at: row.started_at.toISOString(),
  duration_ms: row.duration_ms,
  request: { url: row.request_url, headers: row.request_headers, ...sent },
  response:
    row.response_status === null
      ? null
      : {
          status: row.response_status,
          headers: joined(row.response_headers ?? {}),
          body: answered.body,
          truncated: row.response_truncated === true || answered.truncated,
        },
  error: row.error_class === null ? null : { class: row.error_class, message: row.error_message ?? '' },
})

/** Each header with one value, so that clients have one type for it; those that came several times are joined. */
const joined = (headers: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
