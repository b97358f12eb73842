import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type CollectionRecord, lockCollection } from '../collections/collection.ts'

/** The products of a call that adds or removes some. */
export const ProductIds = z.strictObject({ products: z.array(Id).min(1).max(LIMITS.idsPerCall) })

/**
 * Locks a collection whose members are hand-picked, drafts too, and shares the workspace's membership. Throws `not_found`, and
 * `unprocessable` for a SMART one (OP-34).
 */
export async function lockPickedCollection(tx: Transaction, handleOrId: string): Promise<CollectionRecord> {
  const collection = await lockCollection(tx, handleOrId, 'SHARED')
  if (collection.membershipType === 'MANUAL') return collection
  throw unprocessable(
    'handle: the products of a SMART collection follow its rules; send membership_type MANUAL to pick them by hand',
  )
}

/**
 * The generation that tells what is picked: the one that is shown, or kept while a collection that was SMART goes on showing what its
 * rules gathered.
 */
export const ofPicks = (tx: Transaction, collectionId: string) => tx`
  generation.workspace_id = ${tx.context.workspaceId} and generation.collection_id = ${collectionId}
  and generation.source = 'PICKED' and generation.state in ('CURRENT', 'KEPT')`

/** All generations that a change of the picks goes to: that one, and the one that is being built from it. */
export const takingPicks = (tx: Transaction, collectionId: string) => tx`
  generation.workspace_id = ${tx.context.workspaceId} and generation.collection_id = ${collectionId}
  and generation.source = 'PICKED' and generation.state <> 'OLD'`
