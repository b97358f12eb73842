import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import type { ReceivedRecord } from '@backoffice/messaging/consumers/received-records.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { tryLockMembershipsShared } from '../memberships/membership-lock.ts'
import { type RuleSets, ruleWeights } from '../memberships/rule-sets.ts'
import { workspaceOfEach } from './delete-products.ts'
import { latestStates, StateRecord } from './product-state.ts'
import { queueProducts } from './queue-products.ts'
import { applyProducts, lockPartition, type ProductChange } from './write-products.ts'

/**
 * The most products of one workspace in a transaction that has several workspaces, and in one that has no other; the
 * rest is queued. Rules look at each variant, and each may add a membership, so products count by both, too.
 */
const SHARE = { besideOthers: 100, alone: 400 }
/** Variants that count as much as a product. */
const VARIANTS_OF_A_PRODUCT = 20
/** The longest wait for a row that a request has locked: the products of all workspaces wait with it. */
const LOCK_TIMEOUT_MS = 200

/**
 * Consumes catalog.products. A repeated or late state changes nothing: rows have the catalog's version, and deleted
 * products stay deleted. It waits for no workspace: what one cannot take at once is queued. `onQueued` is called after
 * the commit.
 */
export const projectProducts = (
  ruleSets: RuleSets,
  onQueued: () => void = () => undefined,
): ConsumerDefinition<StateRecord> => ({
  name: 'collections.products',
  topics: [TOPICS.catalogProducts],
  schema: StateRecord,
  // Each record is the whole state of a product, so records after an unreadable one can be applied.
  isEachIndependent: true,
  // Each workspace takes an advisory lock, and the server has room for some thousand locks.
  batchSize: 200,
  // A transaction costs as much as about 80 products, so it waits for more of them.
  gatherMs: 250,
  streamMs: () => 50,
  async handle(records, tx) {
    const { partition, changes, unknown, free } = await lockAndRead(tx, records, tryLockMembershipsShared)
    const { now, later } = shareOut(changes, free, await ruleWeights(tx, ruleSets, [...free]))
    await queueProducts(tx, partition, later)
    await applyProducts(tx, ruleSets, [...now, ...unknown])
    return later.length > 0 ? onQueued : undefined
  },
  async postpone(records, tx) {
    const { partition, changes, unknown } = await lockAndRead(tx, records, async () => new Set())
    await queueProducts(tx, partition, changes)
    await applyProducts(tx, ruleSets, unknown)
    return onQueued
  },
})

/**
 * Locks the partition, then the workspaces that are `free`, and finds those of deletions; `unknown` are deletions of
 * products that nobody has. States alone take one round trip.
 */
async function lockAndRead(
  tx: AnySql,
  records: readonly ReceivedRecord<StateRecord>[],
  lock: (tx: AnySql, workspaceIds: readonly string[]) => Promise<Set<string>>,
) {
  const partition = records[0]?.partition ?? 0
  const { states, deleted } = latestStates(records)
  const workspacesOf = (all: readonly { workspaceId: string }[]) => all.map(({ workspaceId }) => workspaceId)
  const changes: ProductChange[] = states.map((state) => ({
    workspaceId: state.workspace_id,
    id: state.data.id.toLowerCase(),
    state,
  }))
  const [, workspaces, freeAlready] = await Promise.all([
    // Sent first: who waits for the partition may hold no other lock.
    lockPartition(tx, partition, LOCK_TIMEOUT_MS).execute(),
    workspaceOfEach(tx, deleted),
    deleted.length > 0 ? undefined : lock(tx, workspacesOf(changes)),
  ])
  for (const [id, workspaceId] of workspaces) changes.push({ workspaceId, id, state: null })
  const unknown = deleted.filter((id) => !workspaces.has(id)).map((id) => ({ id, state: null }))
  return { partition, changes, unknown, free: freeAlready ?? (await lock(tx, workspacesOf(changes))) }
}

/** Of several workspaces each applies its share. One alone applies more: queueing costs half as much. */
function shareOut(
  changes: readonly ProductChange[],
  free: ReadonlySet<string>,
  ruleWeight: (workspaceId: string) => number,
) {
  const byWorkspace = Map.groupBy(changes, ({ workspaceId }) => workspaceId)
  const share = byWorkspace.size > 1 ? SHARE.besideOthers : SHARE.alone
  const [now, later]: [ProductChange[], ProductChange[]] = [[], []]
  for (const [workspaceId, own] of byWorkspace) {
    const weightOf = (change: ProductChange) => Math.max(variantWeight(change), ruleWeight(workspaceId))
    const [first = []] = free.has(workspaceId) ? partsOf(own, share, weightOf) : []
    now.push(...first)
    later.push(...own.slice(first.length))
  }
  return { now, later }
}

const variantWeight = ({ state }: ProductChange): number =>
  Math.max(1, (state?.data.variants.length ?? 0) / VARIANTS_OF_A_PRODUCT)
