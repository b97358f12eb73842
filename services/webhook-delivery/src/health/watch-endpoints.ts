import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import { pausedUntil } from '../endpoints/endpoint-directory.ts'
import { type ChangedState, changedColumns, publishStates } from './changed-states.ts'

const MINUTE_MS = 60_000
/** Endpoints changed by one transaction. */
const BATCH_SIZE = 100
/** Where it is not known whether a workspace is a live one: its latest events, and so many characters of each body. */
const [EVENTS, BEGINNING] = [1000, 1000]

/** Changes the states of endpoints that fail, or do no more (OP-254). `sql` has the worker role. */
export const watchEndpoints = (sql: Sql, logger: Logger) =>
  worker({
    name: 'states of endpoints',
    everyMs: MINUTE_MS,
    logger,
    work: inBatches(BATCH_SIZE, () => changeStates(sql)),
  })

/**
 * Changes the states of some endpoints by what is known of their attempts, and returns of how many. Reads only those
 * that fail, and those that did. Replicas skip each other's.
 */
export const changeStates = (sql: Sql): Promise<number> =>
  inTransaction(sql, async (tx) => {
    const changes = await tx<ChangedState[]>`
      with judged as materialized (
        select health.workspace_id, health.endpoint_id, becomes, is_gone, livemode
        from endpoint_health as health
        join endpoint on endpoint.workspace_id = health.workspace_id and endpoint.id = health.endpoint_id
        join endpoint_set on endpoint_set.workspace_id = health.workspace_id
        -- The time of a pause is no time of failures.
        cross join lateral (select greatest(failing_since, ${pausedUntil(tx)}) as counted_from) as counted
        cross join lateral (
          select case
            when failing_since is null then 'ACTIVE'
            when given_up_at >= counted_from + interval '3 days' and disables_failing then 'DISABLED'
            when state = 'FAILING' and last_success_at > since then 'ACTIVE'
            when is_gone or last_failed_at >= counted_from + interval '1 day' then 'FAILING'
            else state
          end as becomes
        ) as judgement
        where (failing_since is not null or state = 'FAILING') and state <> 'DISABLED' and state <> becomes
        limit ${BATCH_SIZE}
        for update of health skip locked
      )
      update endpoint_health as health set
        state = becomes, since = clock_timestamp(),
        reason = case when becomes <> 'ACTIVE' then case when judged.is_gone then 'gone' else 'no_success' end end
      from judged
      where health.workspace_id = judged.workspace_id and health.endpoint_id = judged.endpoint_id
      returning ${changedColumns(tx)}, coalesce(judged.livemode, (
        -- Tests have the key of an endpoint: they are marked as a sandbox's in a live workspace, too (OP-258). A body may
        -- have texts that PostgreSQL's JSON refuses, such as NUL: the envelope has livemode before its data.
        select bool_or(split_part(beginning, '"data":', 1) like '%"livemode":true%') from (
          select key, left(body, ${BEGINNING}) as beginning from event
          where event.workspace_id = health.workspace_id order by event.id desc limit ${EVENTS}
        ) as latest
        where key not in (select id::text from endpoint where workspace_id = health.workspace_id)
      ), true) as livemode`
    await publishStates(tx, changes)
    return changes.length
  })
