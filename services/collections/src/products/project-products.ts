import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumer.ts'
import { lockMembershipsShared } from '../memberships/membership-lock.ts'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { updateMemberships } from '../memberships/update-memberships.ts'
import { applyDeletions, workspacesOf } from './delete-products.ts'
import { latestStates, StateRecord } from './product-state.ts'
import { projectionRowOf } from './projection-row.ts'
import { lockPartition, writeProducts } from './write-products.ts'

/**
 * Consumes catalog.products into the projection and updates memberships. A repeated or late state changes nothing: each row has the
 * catalog's version, and deleted products stay deleted.
 */
export const projectProducts = (ruleSets: RuleSets): ConsumerDefinition<StateRecord> => ({
  name: 'collections.products',
  topics: [TOPICS.catalogProducts],
  schema: StateRecord,
  // Each record is the whole state of a product, so records after an unreadable one can be applied.
  isEachIndependent: true,
  // Each workspace takes an advisory lock, and the server has room for some thousand locks.
  batchSize: 200,
  // A transaction costs as much as some eighty products.
  gatherMs: 250,
  async handle(records, tx) {
    const { states, deleted } = latestStates(records)
    const products = states.map(projectionRowOf)
    await lockPartition(tx, records[0]?.partition ?? 0)
    const workspaces = products.map(({ workspaceId }) => workspaceId)
    await lockMembershipsShared(tx, [...workspaces, ...(await workspacesOf(tx, deleted))])
    await applyDeletions(tx, deleted, products)
    const changed = await writeProducts(tx, products, tx`known.version >= state.version`)
    if (changed.length > 0) await updateMemberships(tx, ruleSets, changed)
    return undefined
  },
})
