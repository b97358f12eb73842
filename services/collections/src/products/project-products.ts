import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumer.ts'
import { shareMembership } from '../members/membership-lock.ts'
import type { RuleSets } from '../members/rule-sets.ts'
import { settleProducts } from '../members/settle-products.ts'
import { deleteTold, workspacesOf } from './delete-products.ts'
import { lockPartition } from './partition-lock.ts'
import { newestOf, StateRecord } from './product-state.ts'
import { projectedOf } from './projected-product.ts'
import { writeProducts } from './write-products.ts'

/**
 * Keeps the projection of products, and with it the members of collections. A state that comes again, or late, changes nothing:
 * the projection has the catalog's version, and what is deleted stays so.
 */
export const projectProducts = (ruleSets: RuleSets): ConsumerDefinition<StateRecord> => ({
  name: 'collections.products',
  topics: [TOPICS.catalogProducts],
  schema: StateRecord,
  // Each tells a whole product, and its version what it may replace: one that nobody can read takes no later one with it.
  isEachIndependent: true,
  // Each workspace takes an advisory lock, of which the server has some thousands for all.
  recordsAtOnce: 200,
  async handle(records, tx) {
    const { states, deleted } = newestOf(records)
    const products = states.map(projectedOf)
    await lockPartition(tx, records[0]?.partition ?? 0)
    const workspaces = products.map(({ workspaceId }) => workspaceId)
    await shareMembership(tx, [...workspaces, ...(await workspacesOf(tx, deleted))])
    await deleteTold(tx, deleted, products)
    const changed = await writeProducts(tx, products, tx`known.version >= state.version`)
    if (changed.length > 0) await settleProducts(tx, ruleSets, changed)
    return undefined
  },
})
