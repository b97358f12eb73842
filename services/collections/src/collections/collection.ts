import type { Collection, MembershipType, SortOrder } from '@backoffice/contracts/collection.ts'
import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { type Hold, membershipLock } from '../members/membership-lock.ts'
import type { CoverImage } from './cover-image.ts'

/** A collection as it is stored, but for its members. */
export interface CollectionRecord {
  id: string
  handle: string
  name: string
  description: string | null
  image: CoverImage | null
  seoTitle: string | null
  seoDescription: string | null
  sortOrder: SortOrder
  membershipType: MembershipType
  /** Whatever the type is now: rules stay while the collection is hand-picked. */
  rules: unknown
  published: boolean
  publishAt: Date | null
  unpublishAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** The columns of a `CollectionRecord`, from `collection`. */
export const collectionColumns = (tx: Transaction) => tx`
  collection.id, collection.handle, collection.name, collection.description,
  case when collection.image_id is not null then json_build_object(
    'id', collection.image_id, 'path', collection.image_path, 'thumbnailPath', collection.image_thumbnail_path
  ) end as image,
  collection.seo_title as "seoTitle", collection.seo_description as "seoDescription", collection.sort_order as "sortOrder",
  collection.membership_type as "membershipType", collection.rules, collection.published,
  collection.publish_at as "publishAt", collection.unpublish_at as "unpublishAt",
  collection.created_at as "createdAt", collection.updated_at as "updatedAt"`

/** The maintained count of the current generation's storefront-available members (spec: Collection, product_count). */
export const productCount = (tx: Transaction) => tx`(
  select coalesce(sum(available), 0)::bigint from generation join member_count on member_count.generation = generation.number
  where generation.workspace_id = collection.workspace_id and generation.collection_id = collection.id
    and generation.state = 'CURRENT'
)`

/** Whether reads see a collection now, by the database's clock (spec: Collection visibility). */
export const isVisible = (tx: Transaction) => tx`
  collection.published and (collection.publish_at is null or collection.publish_at <= now())
  and (collection.unpublish_at is null or collection.unpublish_at > now())`

/** The collection that a path names: by its id or its handle (spec: Collections). */
export const isNamed = (tx: Transaction, handleOrId: string) =>
  isId(handleOrId)
    ? tx`collection.workspace_id = ${tx.context.workspaceId} and collection.id = ${handleOrId.toLowerCase()}`
    : tx`collection.workspace_id = ${tx.context.workspaceId} and collection.handle = ${handleOrId}`

export const noSuchCollection = (handleOrId: string) =>
  notFound(`handle: this workspace has no collection "${handleOrId}"`)

export const handleTaken = (handle: string) =>
  conflict(`handle: "${handle}" belongs to another collection of this workspace; send another one`)

/**
 * Locks the collection that a path names, drafts too (spec: Create/update rules 3), after the workspace's membership where that is
 * to be held. The columns are those that the transaction before has committed, even where this one waited for it. Throws
 * `not_found`.
 */
export async function lockCollection(tx: Transaction, handleOrId: string, hold?: Hold): Promise<CollectionRecord> {
  const [collection] = await tx<CollectionRecord[]>`
    select ${collectionColumns(tx)} from collection
    where ${isNamed(tx, handleOrId)}
      ${hold ? tx`and (select ${membershipLock(tx, tx.context.workspaceId, hold)}) is not null` : tx``}
    for update`
  if (collection === undefined) throw noSuchCollection(handleOrId)
  return collection
}

/** The collection body (spec: Collection). How membership is decided is never in it. */
export function collectionBody(collection: CollectionRecord, productCount: number): Collection {
  const { image } = collection
  return {
    id: collection.id,
    handle: collection.handle,
    name: collection.name,
    description: collection.description,
    ...(image && { image_url: assetUrl(image.path), image_thumbnail: assetUrl(image.thumbnailPath) }),
    seo_title: collection.seoTitle,
    seo_description: collection.seoDescription,
    sort_order: collection.sortOrder,
    product_count: productCount,
    created_at: collection.createdAt.toISOString(),
    updated_at: collection.updatedAt.toISOString(),
  }
}

/** A value for a column of type json. */
export const asJson = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
