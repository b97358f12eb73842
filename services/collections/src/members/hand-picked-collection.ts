import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type CollectionRecord, lockCollection } from '../collections/collection.ts'

export const ProductIds = namedObject(
  'CollectionProducts',
  { products: z.array(Id).min(1).max(LIMITS.idsPerCall) },
  { products: ['0198c7a0-0000-7000-8000-000000000001'] },
)

/** Takes the SHARED membership lock, then locks the collection. Throws `unprocessable` for a SMART one (OP-34). */
export async function lockHandPickedCollection(tx: Transaction, handleOrId: string): Promise<CollectionRecord> {
  const collection = await lockCollection(tx, handleOrId, 'SHARED')
  if (collection.membershipType === 'MANUAL') return collection
  throw unprocessable(
    ['handle'],
    'the products of a SMART collection follow its rules; send membership_type MANUAL to pick them by hand',
  )
}

/** The version with all hand-picked members: CURRENT, or SAVED while the collection still shows members by rules. */
export const isHandPickedVersion = (tx: Transaction, collectionId: string) => tx`
  membership_version.workspace_id = ${tx.context.workspaceId} and membership_version.collection_id = ${collectionId}
  and membership_version.source = 'HAND_PICKED' and membership_version.state in ('CURRENT', 'SAVED')`

/** The versions that follow the hand-picked members: the hand-picked one, and the BUILDING one made from it. */
export const followsHandPicked = (tx: Transaction, collectionId: string) => tx`
  membership_version.workspace_id = ${tx.context.workspaceId} and membership_version.collection_id = ${collectionId}
  and membership_version.source = 'HAND_PICKED' and membership_version.state <> 'RETIRED'`
