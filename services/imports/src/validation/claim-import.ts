import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { refuseTooManyBytes } from '@backoffice/storage/stored-bytes.ts'
import { failImport } from '../imports/end-import.ts'
import { type ImportKey, inImport } from '../imports/import-row.ts'
import type { AskingImport } from '../imports/owner-client.ts'
import { GIVE_UP_AFTER, LEASE } from '../imports/retries.ts'
import type { WorkerContext } from '../imports/worker-context.ts'
import type { Findings } from './findings.ts'

/** An import that this replica validates. */
export interface ClaimedImport extends AskingImport {
  readonly bytes: number
  readonly encoding: string
  readonly currency: string | null
  /** The import of the same content, template and currency in the 24 hours before. */
  readonly sameAs: string | null
  readonly claim: string
  /** The claim of a replica that did not come to an end. */
  readonly formerClaim: string | null
  /** Whether no other file may be validated beside it. */
  readonly isAlone: boolean
}

/** Processes have ended so often under a file, and others beside it: the next ones validate nothing else meanwhile. */
const MAX_CLAIMS_BESIDE_OTHERS = 2
/** So long after the claim of such a file, and again every ten minutes, a replica with others begins no further one. */
const OTHERS_WAIT = { seconds: 60, everySeconds: 600 }
/** A file whose validation has ended the process this often is not tried again. */
const MAX_CLAIMS = 4

/**
 * Claims an import that waits for its validation, and has at most `maxBytes`. A workspace has one under way at a time,
 * and the one that has waited longest since its last claim is next. Imports that fail, since their owner is away, come
 * after the others of their workspace, hold up none of them, and take turns.
 *
 * A process that ends takes a claim from each file that it validates. So that a file fails only by itself, one that is
 * to be validated alone is claimed once the replica has none under way. Until then no further file is, for one of every
 * ten minutes. In the others the replica leaves it out, and those of its workspace go on too.
 */
export async function claimImport(
  { db, worker }: Pick<WorkerContext, 'db' | 'worker'>,
  maxBytes: number,
  isIdle = true,
): Promise<ClaimedImport | undefined> {
  const waiting = await worker.sql<(ImportKey & Pick<ClaimedImport, 'isAlone'>)[]>`
    select workspace_id as "workspaceId", id, livemode, claims >= ${MAX_CLAIMS_BESIDE_OTHERS} as "isAlone"
    from (
      select distinct on (workspace_id) workspace_id, id, livemode, claims
      from import as waiting
      where status in ('UPLOADED', 'VALIDATING') and coalesce(claimed_until <= clock_timestamp(), true)
        and bytes <= ${maxBytes} and not exists (${anotherUnderWay(worker.sql)})
        and (${isIdle} or claims < ${MAX_CLAIMS_BESIDE_OTHERS} or ${othersWait(worker.sql)})
      order by workspace_id, failing_since is not null, case when failing_since is not null then claimed_at end, created_at, id
    ) first_of_workspace
    order by
      claims >= ${MAX_CLAIMS_BESIDE_OTHERS} desc,
      (select max(claimed_at) from import where import.workspace_id = first_of_workspace.workspace_id) nulls first
    limit 10`
  for (const one of waiting) {
    if (one.isAlone && !isIdle) return undefined
    const claimed = await claimOne(db, one)
    if (claimed !== undefined) return claimed
  }
  return undefined
}

/** Whether others wait for a file to be validated alone. */
const othersWait = (sql: AnySql) => sql`
  extract(epoch from clock_timestamp() - claimed_until)::integer % ${OTHERS_WAIT.everySeconds}::integer
    < ${OTHERS_WAIT.seconds}`

/** Another import of the workspace of a `waiting` one that is validated. One that fails holds up only such ones. */
const anotherUnderWay = (sql: AnySql) => sql`
  select from import as busy
  where busy.workspace_id = waiting.workspace_id and busy.status = 'VALIDATING'
    and busy.claimed_until > clock_timestamp()
    and (busy.failing_since is null or waiting.failing_since is not null)`

/** Claims one import; undefined when another replica was faster, also with another one of the workspace. */
const claimOne = (db: Database, one: ImportKey): Promise<ClaimedImport | undefined> =>
  inImport(db, one, async (tx) => {
    const { workspaceId, id } = one
    // Of replicas that look at the same time, the next finds what the one before has claimed.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`${workspaceId} validating`}, 0))`
    const [claimed] = await tx<(Omit<ClaimedImport, 'workspaceId' | 'isAlone'> & { claims: number })[]>`
      update import as waiting set
        status = 'VALIDATING', claim = uuidv7(), claims = claims + 1, updated_at = now(),
        claimed_at = clock_timestamp(), claimed_until = clock_timestamp() + ${LEASE}::interval,
        -- What waited so long for its turn was not tried meanwhile.
        failing_since = case when claimed_until <= now() - ${GIVE_UP_AFTER}::interval then null else failing_since end
      where workspace_id = ${workspaceId} and id = ${id} and status in ('UPLOADED', 'VALIDATING')
        and coalesce(claimed_until <= clock_timestamp(), true) and not exists (${anotherUnderWay(tx)})
      returning
        new.id, new.livemode, new.bytes, new.template, new.encoding, new.currency, new.product_statuses as "productStatuses",
        new.same_as as "sameAs", new.claim, old.claim as "formerClaim", new.claims`
    if (claimed === undefined) return undefined
    const { claims, ...rest } = claimed
    if (claims <= MAX_CLAIMS) return { ...rest, workspaceId, isAlone: claims > MAX_CLAIMS_BESIDE_OTHERS }
    const reason = 'the file could not be validated; split it, or ask for help with the id of the import'
    await failImport(tx, id, reason, currentTime())
    return undefined
  })

/**
 * Renews a claim, and records how many rows were read: without further ones the import stands still. One that failed
 * does so no longer when it has come further; where it fails at the same row each time, it is given up. False when the
 * claim is lost or the import cancelled.
 */
export const renewClaim = (db: Database, claimed: ClaimedImport, rows: number): Promise<boolean> =>
  inImport(db, claimed, async (tx) => {
    const renewed = await tx`
      update import set
        claimed_until = clock_timestamp() + ${LEASE}::interval, total_rows = ${rows},
        failing_since = case when ${rows} <= failed_at_row then failing_since end,
        updated_at = case when total_rows is distinct from ${rows} then now() else updated_at end
      where workspace_id = ${claimed.workspaceId} and id = ${claimed.id} and claim = ${claimed.claim} and status = 'VALIDATING'`
    return renewed.count === 1
  })

/**
 * Gives a claim back that a stopping process holds: another replica takes the import at once, and the claim does not
 * count as one that has ended the process.
 */
export const giveBackClaim = (db: Database, { workspaceId, id, livemode, claim }: ClaimedImport): Promise<unknown> =>
  inImport(
    db,
    { workspaceId, id, livemode },
    (tx) => tx`
      update import set claims = claims - 1, claimed_until = clock_timestamp()
      where workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} and status = 'VALIDATING'`,
  )

/** Takes a lost claim off the count: its process has not ended, PostgreSQL was away. */
export const uncountClaim = (db: Database, { workspaceId, id, livemode, claim }: ClaimedImport): Promise<unknown> =>
  inImport(
    db,
    { workspaceId, id, livemode },
    (tx) => tx`
      update import set claims = greatest(claims - 1, 0)
      where workspace_id = ${workspaceId} and id = ${id} and claim <> ${claim} and status = 'VALIDATING'`,
  )

/**
 * Records the findings of a validation, whose files are stored and have `bytes`. Returns false instead when the claim
 * is lost. Throws `unprocessable` when the files of the workspace then have more than `mostBytes`.
 */
export function recordFindings(
  db: Database,
  claimed: ClaimedImport,
  { counts, batches, errors, diff, mapping }: Findings,
  bytes: number,
  mostBytes: number,
): Promise<boolean> {
  const { workspaceId, id, claim } = claimed
  const isInvalid = counts.invalid_rows > 0 || counts.valid_rows === 0
  return inImport(db, claimed, async (tx) => {
    const validated = await tx`
      update import set
        status = ${isInvalid ? 'INVALID' : 'VALIDATED'}, total_rows = ${counts.total_rows}, valid_rows = ${counts.valid_rows},
        invalid_rows = ${counts.invalid_rows}, batches = ${batches.length}, findings_bytes = ${bytes},
        claimed_until = null, failing_since = null, updated_at = now()
      where workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} and status = 'VALIDATING'`
    if (validated.count === 0) return false
    await refuseTooManyBytes(tx, mostBytes)
    await tx`
      insert into import_batch (workspace_id, import_id, batch, first_byte, bytes, rows)
      select ${workspaceId}, ${id}, ordinal - 1, first_byte, bytes, rows
      from rows from (
        json_to_recordset(${JSON.stringify(batches)}::text::json) as (first_byte bigint, bytes integer, rows integer)
      ) with ordinality as batch (first_byte, bytes, rows, ordinal)`
    await tx`
      insert into import_finding (workspace_id, import_id, errors, diff, mapping)
      values (
        ${workspaceId}, ${id}, ${JSON.stringify(errors)}::text::json, ${JSON.stringify(diff)}::text::json,
        ${JSON.stringify(mapping)}::text::json
      )`
    return true
  })
}

/** Ends a claimed import as FAILED, unless the claim is lost. */
export const failClaimed = (db: Database, claimed: ClaimedImport, reason: string): Promise<void> =>
  inImport(db, claimed, async (tx) => {
    const { workspaceId, id, claim } = claimed
    const held = await tx`
      select from import where workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} for no key update`
    if (held.length === 1) await failImport(tx, id, reason, currentTime())
  })
