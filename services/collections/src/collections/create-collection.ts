import { Collection } from '@backoffice/contracts/collection.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { v7 as uuidv7 } from 'uuid'
import { startGeneration } from '../members/generations.ts'
import { membershipLock } from '../members/membership-lock.ts'
import { emptyCollection, withChanges } from './change-collection.ts'
import { asJson, type CollectionRecord, collectionBody, handleTaken } from './collection.ts'
import { CreateCollectionBody } from './collection-input.ts'
import type { FindCoverImage } from './cover-image.ts'
import { handleOf } from './handle.ts'

/** POST /v1/collections (spec: Collections, Create/update rules 1). */
export const createCollection = (findCoverImage: FindCoverImage) =>
  operation({
    method: 'POST',
    path: '/v1/collections',
    summary: 'Create a collection',
    scope: 'product::create',
    body: CreateCollectionBody,
    responses: { 201: Collection },
    openPoints: ['OP-01', 'OP-04', 'OP-08', 'OP-30', 'OP-31', 'OP-32', 'OP-113', 'OP-115'],

    async handle({ body, context, now, inWorkspace }) {
      const isHandleFixed = typeof body.handle === 'string'
      const plan = withChanges(emptyCollection(uuidv7(), body.name, handleOf(body.name), now), body, undefined)
      const image = (await findCoverImage(context, body.image)) ?? null
      return inWorkspace(async (tx) => {
        await lockForCreation(tx, plan)
        const collection = await insertCollection(tx, { ...plan, image }, isHandleFixed)
        const productCount = await startGeneration(tx, collection)
        const answer = collectionBody(collection, productCount)
        await publish(tx, [outboxRecord(TOPICS.collectionsEvents, 'collection.created', collection.id, answer)], now)
        return created(answer)
      })
    },
  })

/**
 * Collections that would get the same handle are made one after the other, each seeing the one before. Only rules gather products,
 * for which the membership must be had alone.
 */
const lockForCreation = (tx: Transaction, { handle, membershipType }: CollectionRecord) => tx`
  select
    ${membershipType === 'SMART' ? membershipLock(tx, tx.context.workspaceId, 'ALONE') : null} as membership,
    pg_advisory_xact_lock(hashtextextended(${`${tx.context.workspaceId} collection ${handle}`}, 0)) as handle`

/**
 * Inserts a collection; a derived handle that is taken gets the family's next number (decision 002). Throws `conflict` for an
 * explicit one; one that an update takes at this very moment fails on its unique constraint, and the transaction runs again.
 */
export async function insertCollection(
  tx: Transaction,
  collection: CollectionRecord,
  isHandleFixed: boolean,
): Promise<CollectionRecord> {
  const workspace = tx.context.workspaceId
  const { handle, image } = collection
  const [written] = await tx<{ handle: string }[]>`
    insert into collection (
      workspace_id, id, handle, name, description, image_id, image_path, image_thumbnail_path, seo_title, seo_description,
      sort_order, membership_type, rules, published, publish_at, unpublish_at, created_at, updated_at
    )
    select
      ${workspace}, ${collection.id},
      case
        when ${isHandleFixed} or not exists (
          select from collection where workspace_id = ${workspace} and handle = ${handle}
        ) then ${handle}
        else ${handle} || '-' || 1 + coalesce(
          (select max(handle_number) from collection where workspace_id = ${workspace} and handle_stem = ${handle}), 1
        )
      end,
      ${collection.name}, ${collection.description}, ${image?.id ?? null}, ${image?.path ?? null}, ${image?.thumbnailPath ?? null},
      ${collection.seoTitle}, ${collection.seoDescription}, ${collection.sortOrder}, ${collection.membershipType},
      ${asJson(collection.rules)}::text::json, ${collection.published}, ${collection.publishAt}, ${collection.unpublishAt},
      ${collection.createdAt}, ${collection.updatedAt}
    where not (${isHandleFixed} and exists (select from collection where workspace_id = ${workspace} and handle = ${handle}))
    returning handle`
  if (written === undefined) throw handleTaken(handle)
  return { ...collection, handle: written.handle }
}
