import type { Database } from '@backoffice/postgres/database.ts'
import { inImport } from '../imports/import-row.ts'
import type { ClaimedImport } from './claim-import.ts'
import type { Findings } from './findings.ts'

/** Records the findings of a validation, whose files are stored. Returns false, and records nothing, when the claim is lost. */
export function recordFindings(
  db: Database,
  claimed: ClaimedImport,
  { counts, batches, errors, diff }: Findings,
  storedBytes: number,
): Promise<boolean> {
  const { workspaceId, id, claim } = claimed
  const isInvalid = counts.invalid_rows > 0 || counts.valid_rows === 0
  return inImport(db, claimed, async (tx) => {
    const validated = await tx`
      update import set
        status = ${isInvalid ? 'INVALID' : 'VALIDATED'}, total_rows = ${counts.total_rows}, valid_rows = ${counts.valid_rows},
        invalid_rows = ${counts.invalid_rows}, batches = ${batches.length}, findings_bytes = ${storedBytes},
        claimed_until = null, failing_since = null, updated_at = now()
      where workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} and status = 'VALIDATING'`
    if (validated.count === 0) return false
    await tx`
      insert into import_batch (workspace_id, import_id, batch, first_byte, bytes, rows)
      select ${workspaceId}, ${id}, ordinal - 1, first_byte, bytes, rows
      from rows from (
        json_to_recordset(${JSON.stringify(batches)}::text::json) as (first_byte bigint, bytes integer, rows integer)
      ) with ordinality as batch (first_byte, bytes, rows, ordinal)`
    await tx`
      insert into import_finding (workspace_id, import_id, errors, diff)
      values (${workspaceId}, ${id}, ${JSON.stringify(errors)}::text::json, ${JSON.stringify(diff)}::text::json)`
    return true
  })
}
