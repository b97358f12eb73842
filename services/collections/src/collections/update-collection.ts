import { COLLECTION, Collection } from '@backoffice/contracts/collection.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { named } from '@backoffice/contracts/named.ts'
import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { countMembers, leavingCostlyRules, startMembershipVersion } from '../memberships/membership-versions.ts'
import { isSameCollection, isSameMembership, mayChangeMembership, withChanges } from './change-collection.ts'
import { CollectionPath, collectionBody, handleTaken, lockCollection } from './collection.ts'
import { readForConsole } from './console-collection.ts'
import { findCoverImage } from './cover-image.ts'
import { isHandleFree, touched, updateCollections } from './write-collections.ts'

/** Missing members stay as they are; a new name does not change the handle (OP-113). */
const UpdateCollectionBody = named('CollectionUpdate', z.strictObject(COLLECTION.shapes.update), {
  name: 'Summer sale',
  seo: null,
})

/** PUT /v1/collections/{handle} (spec: Collections, Create/update rules 2 and 3): changes the members that are sent. */
export const updateCollection = (catalog: InternalCalls) =>
  operation({
    operationId: 'updateCollection',
    method: 'PUT',
    path: '/v1/collections/{handle}',
    summary: 'Update a collection',
    scope: 'product::update',
    params: CollectionPath,
    body: UpdateCollectionBody,
    takesIfMatch: true,
    responses: { 200: Collection },
    events: ['collection.updated'],
    openPoints: ['OP-01', 'OP-30', 'OP-32', 'OP-73', 'OP-113', 'OP-115', 'OP-110', 'OP-169', 'OP-266', 'OP-311'],

    async handle({ params, body, context, now, inWorkspace, requireMatch }) {
      // A refusal waits until the collection is known to be there, and as `If-Match` says.
      const image = findCoverImage(catalog, context, body.image)
      await Promise.allSettled([image])
      return leavingCostlyRules((isLeft) =>
        inWorkspace(async (tx) => {
          const before = await lockCollection(tx, params.handle, mayChangeMembership(body) ? 'EXCLUSIVE' : undefined)
          // Support reads what /v1 shows, also in the console.
          requireMatch?.(
            context.console && context.who !== 'support'
              ? await readForConsole(tx, before.id)
              : collectionBody(before, await countMembers(tx, before.id)),
          )
          const changed = withChanges(before, body, await image)
          if (isSameCollection(before, changed)) return ok(collectionBody(before, await countMembers(tx, before.id)))
          const after = touched(changed, now)
          const written = await updateCollections(tx, [after], isHandleFree(tx, after))
          if (written.count === 0) throw handleTaken(after.handle)
          const count = isSameMembership(before, after)
            ? await countMembers(tx, after.id)
            : await startMembershipVersion(tx, after, isLeft, before)
          const answer = collectionBody(after, count)
          const event = outboxRecord(TOPICS.collectionsEvents, 'collection.updated', after.id, answer)
          await publish(tx, [event], after.updatedAt)
          return ok(answer)
        }),
      )
    },
  })
