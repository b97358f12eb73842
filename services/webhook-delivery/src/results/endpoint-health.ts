import type { AnySql } from '@backoffice/postgres/database.ts'
import type { Attempt } from '../sending/attempt.ts'

const GONE = 410

/**
 * An update of `endpoint_health` with what attempts say of their endpoints (OP-254). It writes what changes something,
 * and otherwise each row once in ten seconds at most, however many attempts are made.
 */
export const noteHealth = (sql: AnySql, attempts: readonly Attempt[]) => sql`
  update endpoint_health as known set
    last_success_at = greatest(known.last_success_at, heard.succeeded_at),
    failing_since = case when heard.succeeded_at is null then coalesce(known.failing_since, heard.failing_since) else heard.failing_since end,
    is_gone = heard.is_gone or (known.is_gone and heard.succeeded_at is null),
    given_up_at = coalesce(heard.given_up_at, known.given_up_at),
    last_failed_at = greatest(known.last_failed_at, heard.failed_at),
    last_failure = coalesce(heard.failure, known.last_failure)
  from json_to_recordset(${JSON.stringify(heardFrom(attempts))}::text::json) as heard (
    workspace_id uuid, endpoint_id uuid, succeeded_at timestamptz, failing_since timestamptz, is_gone boolean,
    given_up_at timestamptz, failed_at timestamptz, failure jsonb
  )
  where known.workspace_id = heard.workspace_id and known.endpoint_id = heard.endpoint_id and (
    heard.given_up_at is not null
    or (heard.is_gone and not known.is_gone)
    or (heard.failing_since is not null and known.failing_since is null)
    or (heard.succeeded_at is not null and known.failing_since is not null)
    or coalesce(
      greatest(heard.succeeded_at, heard.failed_at) > greatest(known.last_success_at, known.last_failed_at) + interval '10 seconds',
      true
    )
  )`

/** What attempts say of their endpoints: a row for each. */
export const heardFrom = (attempts: readonly Attempt[]) =>
  [...Map.groupBy(attempts, ({ job }) => job.target.id)].map(([endpoint_id, made]) => {
    const ended = made.toSorted((a, b) => endOf(a) - endOf(b))
    const lastSuccess = ended.findLastIndex(({ exchange }) => exchange.failure === null)
    const lastFailure = ended.findLast(({ exchange }) => exchange.failure !== null)
    const failing = ended.slice(lastSuccess + 1)
    return {
      workspace_id: made[0]?.job.target.workspaceId,
      endpoint_id,
      succeeded_at: timeOf(ended[lastSuccess]),
      failing_since: timeOf(failing[0]),
      is_gone: failing.some(({ exchange }) => exchange.response?.status === GONE),
      given_up_at: timeOf(failing.findLast(({ job, status }) => status === 'FAILED' && job.resend === undefined)),
      failed_at: timeOf(lastFailure),
      failure: lastFailure && {
        error_class: lastFailure.exchange.failure?.class,
        response_status: lastFailure.exchange.response?.status ?? null,
      },
    }
  })

const endOf = ({ startedAt, exchange }: Attempt): number => startedAt.getTime() + exchange.durationMs
const timeOf = (attempt: Attempt | undefined): Date | undefined => attempt && new Date(endOf(attempt))
