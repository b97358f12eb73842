import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const EVERY_MS = 1000
/** Deliveries of one recovery made due at once: few, so that fresh events still come first. */
const BATCH_SIZE = 100

/**
 * Runs recoveries: about once a second makes the next failed deliveries of each one due, unless deliveries of its
 * endpoint still wait. Replicas share the recoveries; `sql` has the worker role.
 */
export const recoveryWorker = (sql: Sql, logger: Logger) =>
  worker({ name: 'recoveries', everyMs: EVERY_MS, logger, work: () => recoverSome(sql) })

/** One step of every recovery that no other replica is at; a recovery that found nothing more is over. */
async function recoverSome(sql: Sql): Promise<void> {
  await inTransaction(
    sql,
    (tx) => tx`
      with open as materialized (
        select * from recovery order by workspace_id, id for update skip locked
      ), chosen as materialized (
        select open.workspace_id, open.id as recovery_id, failed.endpoint_id, failed.id
        from open cross join lateral (
          select endpoint_id, id from delivery
          where workspace_id = open.workspace_id and endpoint_id = open.endpoint_id and status = 'FAILED'
            and id > open.after_id and created_at >= open.since and created_at <= open.until
          order by id limit ${BATCH_SIZE}
        ) failed
        where not exists (
          select from delivery where endpoint_id = open.endpoint_id and due_at <= now() and claimed_by is null
        )
      ), resent as (
        update delivery set resend_at = now()
        from chosen
        where delivery.workspace_id = chosen.workspace_id and delivery.endpoint_id = chosen.endpoint_id
          and delivery.id = chosen.id and delivery.status = 'FAILED'
      ), advanced as (
        update recovery set after_id = latest.id
        from (
          select distinct on (workspace_id, recovery_id) workspace_id, recovery_id, id
          from chosen order by workspace_id, recovery_id, id desc
        ) latest
        where recovery.workspace_id = latest.workspace_id and recovery.id = latest.recovery_id
      )
      delete from recovery using open
      where recovery.workspace_id = open.workspace_id and recovery.id = open.id and not exists (
        select from delivery
        where workspace_id = open.workspace_id and endpoint_id = open.endpoint_id and status = 'FAILED'
          and id > open.after_id and created_at >= open.since and created_at <= open.until
      )`,
  )
}
