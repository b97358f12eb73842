import type { Sql } from '@backoffice/postgres/database.ts'
import type { Attempt } from '../sending/attempt.ts'
import { noteHealth } from './endpoint-health.ts'
import { inOrder, isGiven, isOpen } from './given-deliveries.ts'

/**
 * Writes attempts, the new states of their deliveries and what they say of their endpoints in one statement. Skips a
 * result of an attempt whose number is recorded already. Fails if another transaction holds a row for longer than
 * `lockMs` milliseconds. Returns the ids of the written deliveries, and when each is due again.
 */
export async function recordAttempts(
  sql: Sql,
  attempts: readonly Attempt[],
  lockMs: number,
): Promise<ReadonlyMap<string, Date | null>> {
  const eventIds = attempts.map(({ job }) => job.eventId)
  const rows = await sql<{ id: string; dueAt: Date | null }[]>`
    with made as (
      select * from json_to_recordset(${JSON.stringify(inOrder(attempts.map(rowOf)))}::text::json) as made (
        workspace_id uuid, endpoint_id uuid, delivery_id uuid, event_id uuid, number integer, resends_made integer,
        resend_at timestamptz, is_resend boolean,
        status text, next_attempt_at timestamptz, delivered_at timestamptz,
        started_at timestamptz, duration_ms integer, request_url text, request_headers json,
        response_status smallint, response_headers json, response_body text, response_truncated boolean,
        error_class text, error_message text
      )
    ),
    settled as (
      update delivery set
        status = made.status, attempts_made = made.number, next_attempt_at = made.next_attempt_at,
        delivered_at = made.delivered_at, busy_until = null, resends_made = made.resends_made,
        -- One that was asked for after the reading is still to be made. What was read of it has milliseconds only.
        resend_at = case
          when made.resend_at is null or date_trunc('milliseconds', delivery.resend_at) > made.resend_at
          then delivery.resend_at
        end
      from made
      where ${isGiven(sql, sql`made`, eventIds)} and delivery.attempts_made = made.number - 1 and ${isOpen(sql)}
        -- It is set before the first row is locked, and for this statement alone.
        and (select set_config('lock_timeout', ${String(lockMs)}, true)) is not null
      returning made.*, delivery.due_at
    ),
    kept as (
      insert into attempt (
        workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers,
        response_status, response_headers, response_body, response_truncated, error_class, error_message, is_resend
      )
      select workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers,
        response_status, response_headers, decode(response_body, 'base64'), response_truncated, error_class, error_message,
        is_resend
      from settled
    ),
    noted as (${noteHealth(sql, attempts)})
    select delivery_id as id, due_at as "dueAt" from settled`
  return new Map(rows.map(({ id, dueAt }) => [id, dueAt]))
}

const rowOf = ({ job, startedAt, sent, exchange, ...outcome }: Attempt) => ({
  workspace_id: job.target.workspaceId,
  endpoint_id: job.target.id,
  delivery_id: job.deliveryId,
  event_id: job.eventId,
  number: job.attemptsMade + 1,
  resends_made: job.resendsMade + (job.resend === undefined ? 0 : 1),
  resend_at: job.resendAt,
  is_resend: job.resend !== undefined,
  status: outcome.status,
  next_attempt_at: outcome.nextAttemptAt,
  delivered_at: outcome.deliveredAt,
  started_at: startedAt,
  duration_ms: exchange.durationMs,
  request_url: sent.url.href,
  request_headers: sent.headers,
  response_status: exchange.response?.status,
  response_headers: exchange.response?.headers,
  response_body: exchange.response?.body.toString('base64'),
  response_truncated: exchange.response?.isTruncated,
  error_class: exchange.failure?.class,
  error_message: exchange.failure?.message,
})
