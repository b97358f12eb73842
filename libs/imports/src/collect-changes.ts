import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Moves the changes of an import's next batch to `undone_change`, with one row per resource. Returns false when no batch is
 * left. Several changes of a resource become its first former values and its last version. When somebody else has changed the
 * resource in between, the row has no version. The caller has locked the undo.
 */
export async function collectBatch(tx: Transaction, importId: string): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const [{ batches }] = await tx<[{ batches: number }]>`
    with batch as (
      delete from imported_batch
      where workspace_id = ${workspace} and import_id = ${importId} and id = (
        select min(id) from imported_batch where workspace_id = ${workspace} and import_id = ${importId}
      )
      returning changes
    ), collected as (
      insert into undone_change as known (workspace_id, import_id, id, key, former, version)
      select
        ${workspace}, ${importId}, row.id, row.key, row.former,
        case when earlier.id is null or earlier.version = row.version_before then row.version_after end
      from batch
      cross join json_to_recordset(batch.changes)
        as row (id uuid, key text, former jsonb, version_before text, version_after text)
      left join undone_change as earlier
        on earlier.workspace_id = ${workspace} and earlier.import_id = ${importId} and earlier.id = row.id
      on conflict (workspace_id, import_id, id) do update set
        former = excluded.former || known.former, version = excluded.version
    )
    select count(*) as batches from batch`
  return batches > 0
}
