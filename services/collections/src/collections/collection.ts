import type { Collection, MembershipType, SortOrder } from '@backoffice/contracts/collection.ts'
import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { type LockMode, membershipLock } from '../memberships/membership-lock.ts'
import type { CoverImage } from './cover-image.ts'

/** A stored collection, without its members. */
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
  /** A MANUAL collection that was SMART keeps its rules. */
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

/** The condition for the collection with this handle or id (spec: Collections). */
export const isNamed = (tx: Transaction, handleOrId: string) =>
  isId(handleOrId)
    ? tx`collection.workspace_id = ${tx.context.workspaceId} and collection.id = ${handleOrId.toLowerCase()}`
    : tx`collection.workspace_id = ${tx.context.workspaceId} and collection.handle = ${handleOrId}`

export const noSuchCollection = (handleOrId: string) =>
  notFound(['handle'], `this workspace has no collection "${handleOrId}"`)

export const handleTaken = (handle: string) =>
  conflict(['handle'], `"${handle}" belongs to another collection of this workspace; send another one`)

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
