import type { AnySql, Sql, Transaction } from '@backoffice/postgres/database.ts'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/**
 * When the passes of a deletion are due, in seconds. A pass misses rows that are written later: by requests that were
 * under way (tokens hold for a minute), and by records on topics, which keep them for 7 days.
 */
export const PASSES_AFTER_S: readonly number[] = [0, 10, 60, 300, HOUR_S, DAY_S, 8 * DAY_S]

/** How many of the passes are due within an hour. */
export const PASSES_OF_FIRST_HOUR = PASSES_AFTER_S.filter((seconds) => seconds <= HOUR_S).length

export interface Deletion {
  workspaceId: string
  livemode: boolean
  notedAt: Date
}

/** Notes that the transaction's workspace is deleted; a worker deletes its rows. A repeated call changes nothing. */
export async function noteDeletion(tx: Transaction): Promise<void> {
  const { workspaceId, livemode } = tx.context
  await tx`
    insert into deleted_workspace (workspace_id, livemode) values (${workspaceId}, ${livemode}) on conflict do nothing`
}

/**
 * Locks the deletion that has waited longest, of those that are due and that no other replica works on. It goes to the
 * end of the line: while its files are removed, which nothing locks, other replicas take others. One of a time when
 * the clock was ahead is due, and its passes are counted from now on (OP-302).
 */
export async function nextDeletion(tx: AnySql, now: Date): Promise<Deletion | undefined> {
  const [deletion] = await tx<Deletion[]>`
    update deleted_workspace set
      worked_at = ${now}, noted_at = least(noted_at, ${now}), next_pass_at = least(next_pass_at, ${now})
    where workspace_id = (
      select workspace_id from deleted_workspace
      where next_pass_at is not null
        and (next_pass_at <= ${now} or worked_at > ${now}::timestamptz + interval '1 minute')
      order by worked_at, workspace_id limit 1 for update skip locked
    )
    returning workspace_id as "workspaceId", livemode, noted_at as "notedAt"`
  return deletion
}

/** Lets a deletion wait for some seconds, and moves it to the end of the line. */
export async function postpone(sql: Sql | AnySql, workspaceId: string, now: Date, seconds: number): Promise<void> {
  await sql`
    update deleted_workspace set worked_at = ${now}, next_pass_at = ${now}::timestamptz + make_interval(secs => ${seconds})
    where workspace_id = ${workspaceId} and next_pass_at is not null`
}

/** Ends a pass; the next one is due as PASSES_AFTER_S says, none after the last. */
export async function endPass(tx: AnySql, { workspaceId }: Deletion, now: Date): Promise<void> {
  await tx`
    update deleted_workspace set
      passes_made = passes_made + 1, worked_at = ${now},
      next_pass_at = noted_at + make_interval(secs => (${[...PASSES_AFTER_S]}::integer[])[passes_made + 2])
    where workspace_id = ${workspaceId} and next_pass_at <= ${now}`
}
