import { COLLECTION, type Collection } from '@backoffice/contracts/collection.ts'
import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { isId, Reference } from '@backoffice/contracts/fields.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { z } from 'zod'
import { type LockMode, membershipLock } from '../memberships/membership-lock.ts'
import type { CoverImage } from './cover-image.ts'

/** A stored collection, without its members. A MANUAL collection that was SMART keeps its rules. */
export interface CollectionRecord extends RecordOf<typeof COLLECTION> {
  readonly image: CoverImage | null
}

/** What answers show of a collection: its rules, which they do not show, may have a megabyte. */
export type ShownCollection = Parameters<typeof COLLECTION.answerOf>[0] & Pick<CollectionRecord, 'image'>

/** The columns of a `CollectionRecord`, from `collection`. */
export const collectionColumns = (tx: Transaction) => tx`${tx.unsafe(COLLECTION.sql.selected)}, ${imageColumn(tx)}`

/** The columns of a `ShownCollection`, from `collection`. */
export const shownColumns = (tx: Transaction) => tx`${tx.unsafe(COLLECTION.sql.shown)}, ${imageColumn(tx)}`

const imageColumn = (tx: Transaction) => tx`
  case when image_id is not null then json_build_object(
    'id', image_id, 'path', image_path, 'thumbnailPath', image_thumbnail_path
  ) end as image`

/** About the bytes of a collection beside its texts. */
const OTHER_BYTES = 2000

/** About how many bytes the answer of a collection has. */
export const collectionBytes = (tx: Transaction) =>
  tx`octet_length(concat(description, seo_description)) + ${OTHER_BYTES}`

/** The storefront-available members of the CURRENT version, as counted (spec: Collection, product_count). */
export const productCount = (tx: Transaction) => tx`(
  select coalesce(sum(available), 0)::bigint
  from membership_version as version join collection_member_count on version_number = version.number
  where version.workspace_id = collection.workspace_id and version.collection_id = collection.id and version.state = 'CURRENT'
)`

/** The condition for a collection that reads show now, by the database's clock (spec: Collection visibility). */
export const isVisible = (tx: Transaction) => tx`
  collection.published and (collection.publish_at is null or collection.publish_at <= now())
  and (collection.unpublish_at is null or collection.unpublish_at > now())`

/** A collection in paths: its handle or its id (spec: Collections). */
export const CollectionPath = z.strictObject({ handle: Reference })

/** The condition for the collection with this handle or id (spec: Collections). */
export const isNamed = (tx: Transaction, handleOrId: string) =>
  isId(handleOrId)
    ? tx`collection.workspace_id = ${tx.context.workspaceId} and collection.id = ${handleOrId.toLowerCase()}`
    : tx`collection.workspace_id = ${tx.context.workspaceId} and collection.handle = ${handleOrId}`

export const noSuchCollection = (handleOrId: string) =>
  notFound(['handle'], `this workspace has no collection "${handleOrId}"`)

/** As `noSuchCollection`, of what reads show: a draft that writes resolve is none of them. */
export const noPublishedCollection = (handleOrId: string) =>
  notFound(['handle'], `this workspace has no published collection "${handleOrId}"`)

export const handleTaken = (handle: string) =>
  conflict(['handle'], `"${handle}" belongs to another collection of this workspace; send another one`, 'handle_taken')

/**
 * Locks a collection, published or not, after the membership lock if a mode is given. Throws `not_found`. Returns it as
 * last committed, also after waiting for another transaction (spec: Create/update rules 3).
 */
export async function lockCollection(tx: Transaction, handleOrId: string, mode?: LockMode): Promise<CollectionRecord> {
  const [collection] = await tx<CollectionRecord[]>`
    select ${collectionColumns(tx)} from collection
    where ${isNamed(tx, handleOrId)}
      ${mode ? tx`and (select ${membershipLock(tx, tx.context.workspaceId, mode)}) is not null` : tx``}
    for update`
  if (collection === undefined) throw noSuchCollection(handleOrId)
  return collection
}

/** The collection body (spec: Collection). It never shows the membership type or the rules. */
export const collectionBody = (collection: ShownCollection, productCount: number): Collection =>
  COLLECTION.answerOf(collection, {
    ...(collection.image && {
      image_url: assetUrl(collection.image.path),
      image_thumbnail: assetUrl(collection.image.thumbnailPath),
    }),
    product_count: productCount,
  })
