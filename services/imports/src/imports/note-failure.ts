import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { failImport } from './fail-import.ts'

/** How long an import is retried while its storage or its template's owner is away, before it is FAILED. */
const GIVE_UP_AFTER = '10 minutes'

/** An import on which work failed. */
interface FailingImport {
  readonly workspaceId: string
  readonly id: string
  readonly livemode: boolean
  readonly claim: string
}

/**
 * Notes that work on an import failed, and lets it be tried again a moment later. An import that has failed for longer than
 * `giveUpAfter` (an interval of PostgreSQL) ends as FAILED; what is applied stays. Another replica may hold the claim by now: then
 * nothing changes.
 */
export async function noteFailure(
  db: Database,
  { workspaceId, id, livemode, claim }: FailingImport,
  error: unknown,
  giveUpAfter = GIVE_UP_AFTER,
): Promise<void> {
  const context = { workspaceId, livemode, traceparent: traceparentFrom(undefined), actor: `import ${id}` }
  const reason = error instanceof ApiError ? error.message : 'an internal error'
  await db.inWorkspace(context, async (tx) => {
    const [{ is_over: isOver = false } = {}] = await tx<{ is_over: boolean }[]>`
      update import set
        failing_since = coalesce(failing_since, now()), claims = 0,
        claimed_until = case when status = 'VALIDATING' then now() + interval '3 seconds' end
      where workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} and status in ('VALIDATING', 'IMPORTING')
      returning failing_since <= now() - ${giveUpAfter}::interval as is_over`
    if (isOver) await failImport(tx, id, `gave up after ${giveUpAfter}: ${reason}`, new Date())
  })
}
