import { COLLECTION, Collection } from '@backoffice/contracts/collection.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { named } from '@backoffice/contracts/named.ts'
import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { chooseSlug, lockedFamilies, type NumberedSlugs, type SlugFamily } from '@backoffice/postgres/slug-families.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { membershipLock } from '../memberships/membership-lock.ts'
import { leavingCostlyRules, startMembershipVersion } from '../memberships/membership-versions.ts'
import { emptyCollection, withChanges } from './change-collection.ts'
import { type CollectionRecord, collectionBody, handleTaken } from './collection.ts'
import { findCoverImage } from './cover-image.ts'
import { handleOf } from './handle.ts'
import { insertCollections, isHandleFree } from './write-collections.ts'

const CreateCollectionBody = named('CollectionInput', z.strictObject(COLLECTION.shapes.create), {
  name: 'Summer',
  membership_type: 'SMART',
  rules: { match: 'all', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] },
  seo: { title: 'Summer clothes' },
  sort_order: 'CREATED_DESC',
  published: true,
})

/** POST /v1/collections (spec: Collections, Create/update rules 1). */
export const createCollection = (catalog: InternalCalls) =>
  operation({
    operationId: 'createCollection',
    method: 'POST',
    path: '/v1/collections',
    summary: 'Create a collection',
    scope: 'product::create',
    body: CreateCollectionBody,
    responses: { 201: Collection },
    events: ['collection.created'],
    openPoints: [
      'OP-01',
      'OP-04',
      'OP-08',
      'OP-30',
      'OP-31',
      'OP-32',
      'OP-113',
      'OP-115',
      'OP-110',
      'OP-168',
      'OP-311',
    ],

    async handle({ body, context, now, inWorkspace, storedAnswer }) {
      const stored = await storedAnswer()
      if (stored) return stored
      const plan = withChanges(emptyCollection(newId(), body.name, handleOf(body.name), now), body, undefined)
      const image = (await findCoverImage(catalog, context, body.image)) ?? null
      return leavingCostlyRules((isLeft) =>
        inWorkspace(async (tx) => {
          const isHandleFixed = typeof body.handle === 'string'
          const handle = await lockForCreation(tx, plan, isHandleFixed)
          const collection = { ...plan, handle, image }
          // A handle that is taken meanwhile runs the request again.
          const condition = isHandleFixed ? isHandleFree(tx, collection) : undefined
          const { count } = await insertCollections(tx, [collection], condition)
          if (count === 0) throw handleTaken(handle)
          const productCount = await startMembershipVersion(tx, collection, isLeft)
          const answer = collectionBody(collection, productCount)
          await publish(tx, [outboxRecord(TOPICS.collectionsEvents, 'collection.created', collection.id, answer)], now)
          return created(answer)
        }),
      )
    },
  })

/** Handles of collections (OP-32). */
const COLLECTION_HANDLES: NumberedSlugs = {
  table: 'collection',
  lockPrefix: (workspace) => `${workspace} collection `,
}

/** Locks a family of handles, and the memberships of a SMART collection: a MANUAL one starts without members. */
async function lockForCreation(
  tx: Transaction,
  { handle, membershipType }: CollectionRecord,
  isHandleFixed: boolean,
): Promise<string> {
  const isSmart = membershipType === 'SMART'
  if (isHandleFixed && !isSmart) return handle
  const [locked] = await tx<[{ families: SlugFamily[] }]>`
    select
      ${isSmart ? membershipLock(tx, tx.context.workspaceId, 'EXCLUSIVE') : null} as membership,
      ${isHandleFixed ? null : lockedFamilies(tx, COLLECTION_HANDLES, [handle])} as families`
  return isHandleFixed ? handle : chooseSlug(locked.families, handle)
}
