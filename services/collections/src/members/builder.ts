import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { BEFORE_ALL, type Building, buildChunk } from './build-generation.ts'
import { deleteSome } from './delete-members.ts'
import { lockMembershipAlone } from './membership-lock.ts'

const EVERY_MS = 200
/** First key of the advisory locks on workspaces that a replica builds in; the second is the workspace's hash. */
const BUILDING_LOCK = 7_021_006
/**
 * Changes of the workspace's products wait while a chunk is built, and the builder for those that came meanwhile: as many products as
 * take about this long keep the one below a second, and the other from taking twice as long as without changes.
 */
const CHUNK_MS = 200
const CHUNK = { least: 500, first: 5000, most: 50_000 }

/**
 * Builds the generations that requests left unfinished, and deletes the members of those that are over, a chunk of each workspace's in
 * turn. Replicas share the work; a process that dies leaves what its last chunk had done. `sql` is of the worker role.
 */
export function generationBuilder(sql: Sql, logger: Logger) {
  let after = BEFORE_ALL
  let hasBuilt = false
  let chunk = CHUNK.first
  return worker({
    name: 'generation builder',
    everyMs: EVERY_MS,
    logger,
    work: async (stopping) => {
      const [goesOn, isDeleted] = [await buildNext(), await deleteSome(sql, CHUNK.first)]
      return stopping.aborted || goesOn || isDeleted ? 0 : undefined
    },
  })

  /** Returns false at the end of a round in which nothing was built: there is nothing to do, or other replicas do it. */
  async function buildNext(): Promise<boolean> {
    const workspaceId = await workspaceToBuildIn(sql, after)
    after = workspaceId ?? BEFORE_ALL
    if (workspaceId === undefined) {
      const goesOn = hasBuilt
      hasBuilt = false
      return goesOn
    }
    // Less, should this fail: a chunk that takes too long is not to be tried again as it is.
    const size = chunk
    chunk = CHUNK.least
    const tookMs = await buildIn(sql, workspaceId, size)
    chunk = tookMs === undefined ? size : sizeAfter(size, tookMs)
    hasBuilt ||= tookMs !== undefined
    return true
  }
}

/** Twice as much at most, since a chunk can be quick for having nothing to do. */
const sizeAfter = (size: number, tookMs: number): number =>
  Math.round(Math.min(Math.max((size * CHUNK_MS) / Math.max(tookMs, CHUNK_MS / 2), CHUNK.least), CHUNK.most))

async function workspaceToBuildIn(sql: Sql, after: string): Promise<string | undefined> {
  const [next] = await sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId" from generation
    where state = 'BUILDING' and workspace_id > ${after} order by workspace_id limit 1`
  return next?.workspaceId
}

/** Builds a chunk; returns how many milliseconds the membership was had alone, or undefined when another replica builds there. */
async function buildIn(sql: Sql, workspaceId: string, size: number): Promise<number | undefined> {
  let lockedAt: number | undefined
  await inTransaction(sql, async (tx) => {
    const [{ isMine }] = await tx<[{ isMine: boolean }]>`
      select pg_try_advisory_xact_lock(${BUILDING_LOCK}::integer, hashtext(${workspaceId})) as "isMine"`
    if (!isMine) return
    await lockMembershipAlone(tx, workspaceId)
    lockedAt = performance.now()
    const next = await generationToBuild(tx, workspaceId)
    if (next !== undefined) await buildChunk(tx, next, size)
  })
  return lockedAt && performance.now() - lockedAt
}

/** One that was begun comes first: that of a request is, of many that are made anew the first of them. */
async function generationToBuild(sql: AnySql, workspaceId: string): Promise<Building | undefined> {
  const [next] = await sql<Building[]>`
    select workspace_id as "workspaceId", collection_id as "collectionId" from generation
    where state = 'BUILDING' and workspace_id = ${workspaceId}
    order by built_to is null, collection_id limit 1`
  return next
}
