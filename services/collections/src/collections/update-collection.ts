import { COLLECTION, Collection } from '@backoffice/contracts/collection.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { countMembers, startMembershipVersion } from '../memberships/membership-versions.ts'
import { isSameCollection, isSameMembership, mayChangeMembership, withChanges } from './change-collection.ts'
import { type CollectionRecord, collectionBody, collectionRows, handleTaken, lockCollection } from './collection.ts'
import { UpdateCollectionBody } from './collection-input.ts'
import type { FindCoverImage } from './cover-image.ts'
import { CollectionPath } from './handle.ts'

/** PUT /v1/collections/{handle} (spec: Collections, Create/update rules 2 and 3): changes the members that are sent. */
export const updateCollection = (findCoverImage: FindCoverImage) =>
  operation({
    operationId: 'updateCollection',
    method: 'PUT',
    path: '/v1/collections/{handle}',
    summary: 'Update a collection',
    scope: 'product::update',
    params: CollectionPath,
    body: UpdateCollectionBody,
    responses: { 200: Collection },
    openPoints: ['OP-01', 'OP-30', 'OP-32', 'OP-73', 'OP-113', 'OP-115'],

    async handle({ params, body, context, now, inWorkspace }) {
      const image = await findCoverImage(context, body.image)
      return inWorkspace(async (tx) => {
        const before = await lockCollection(tx, params.handle, mayChangeMembership(body) ? 'EXCLUSIVE' : undefined)
        const changed = withChanges(before, body, image)
        if (isSameCollection(before, changed)) return ok(collectionBody(before, await countMembers(tx, before.id)))
        const after = { ...changed, updatedAt: new Date(Math.max(before.updatedAt.getTime(), now.getTime())) }
        await writeCollection(tx, after)
        const count = isSameMembership(before, after)
          ? await countMembers(tx, after.id)
          : await startMembershipVersion(tx, after)
        const answer = collectionBody(after, count)
        const event = outboxRecord(TOPICS.collectionsEvents, 'collection.updated', after.id, answer)
        await publish(tx, [event], after.updatedAt)
        return ok(answer)
      })
    },
  })

/** Throws `conflict` for the handle of another collection. */
async function writeCollection(tx: Transaction, collection: CollectionRecord): Promise<void> {
  const workspace = tx.context.workspaceId
  const { id, handle, image } = collection
  const { count } = await tx`
    update collection set
      ${tx.unsafe(COLLECTION.sql.assignments(COLLECTION.names.filter((name) => name !== 'id' && name !== 'createdAt')))},
      image_id = ${image?.id ?? null}, image_path = ${image?.path ?? null},
      image_thumbnail_path = ${image?.thumbnailPath ?? null}
    from ${collectionRows(tx, [collection])}
    where collection.workspace_id = ${workspace} and collection.id = ${id}
      and not exists (select from collection where workspace_id = ${workspace} and handle = ${handle} and id <> ${id})`
  if (count === 0) throw handleTaken(handle)
}
