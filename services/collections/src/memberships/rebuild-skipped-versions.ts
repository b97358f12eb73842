import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import type { Rules } from '../rules/rules.ts'
import { limitMembershipWait, lockMembershipsExclusive } from './membership-lock.ts'
import { startBuilding } from './membership-versions.ts'
import { raiseRuleVersion } from './rule-sets.ts'
import type { UnreadableVersions } from './unreadable-versions.ts'

const NAME = 'skipped membership versions'
const EVERY_MS = 10_000
/** The time without a skip before a version is built anew, in seconds: earlier, the new one would be skipped too. */
const QUIET_S = 60
const BATCH_SIZE = 100

interface SkippedVersion {
  workspaceId: string
  collectionId: string
  number: number
  rules: Rules
}

/** Builds skipped membership versions anew (`startSkippedAnew`). `sql` has the worker role. */
export const rebuildSkippedVersions = (sql: Sql, logger: Logger, unreadable: UnreadableVersions) =>
  worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    work: inBatches(BATCH_SIZE, () => startSkippedAnew(sql, unreadable, logger)),
  })

/**
 * Starts new versions of collections that no replica has skipped for `quietS` seconds, with rules that this one can
 * read. Returns the number of versions that it has looked at without a failure.
 */
export async function startSkippedAnew(
  sql: Sql,
  unreadable: UnreadableVersions,
  logger: Logger,
  quietS = QUIET_S,
): Promise<number> {
  const skipped = await sql<SkippedVersion[]>`
    select workspace_id as "workspaceId", collection_id as "collectionId", number, rules from membership_version
    where state = 'CURRENT' and skipped_at < now() - make_interval(secs => ${quietS})
      and number <> all(${[...unreadable.numbers]}::bigint[])
    order by skipped_at limit ${BATCH_SIZE}`
  let done = 0
  for (const version of skipped) {
    await failsAlone(
      logger,
      NAME,
      { workspace_id: version.workspaceId, collection_id: version.collectionId },
      async () => {
        if ((await unreadable.compile(version)) !== null) await startAnew(sql, version)
        done++
      },
    )
  }
  return done
}

/** Starts a version for the builder, unless one is BUILDING already: that one replaces the skipped version, too. */
const startAnew = (sql: Sql, { workspaceId, collectionId, number }: SkippedVersion) =>
  inTransaction(sql, async (tx) => {
    await limitMembershipWait(tx)
    await lockMembershipsExclusive(tx, workspaceId)
    const { count } = await tx`
      update membership_version set skipped_at = null
      where number = ${number} and state = 'CURRENT' and skipped_at is not null`
    const isBuilding = tx`exists (
      select from membership_version where workspace_id = ${workspaceId} and collection_id = ${collectionId} and state = 'BUILDING'
    )`
    if (count > 0) await startBuilding(tx, workspaceId, tx`collection.id = ${collectionId} and not ${isBuilding}`)
    await raiseRuleVersion(tx, workspaceId)
  })
