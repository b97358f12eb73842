import { COLLECTION } from '@backoffice/contracts/collection.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { laterThan } from '@backoffice/postgres/outbox.ts'
import type { CollectionRecord } from './collection.ts'

/** Inserts collections in the order of their handles, so that transactions with the same handles do not deadlock. */
export const insertCollections = (
  tx: Transaction,
  collections: readonly CollectionRecord[],
  condition = tx`true`,
) => tx`
  insert into collection (workspace_id, ${tx.unsafe(COLLECTION.sql.columns)}, image_id, image_path, image_thumbnail_path)
  select ${tx.context.workspaceId}, ${tx.unsafe(COLLECTION.sql.members)},
    (row.image ->> 'id')::uuid, row.image ->> 'path', row.image ->> 'thumbnailPath'
  from ${rowsOf(tx, collections)}
  where ${condition}
  order by handle collate "C"`

const ASSIGNMENTS = COLLECTION.sql.assignments(COLLECTION.names.filter((name) => name !== 'id' && name !== 'createdAt'))

/** Updates collections, which the caller has locked. */
export const updateCollections = (
  tx: Transaction,
  collections: readonly CollectionRecord[],
  condition = tx`true`,
) => tx`
  update collection set
    ${tx.unsafe(ASSIGNMENTS)}, image_id = (row.image ->> 'id')::uuid, image_path = row.image ->> 'path',
    image_thumbnail_path = row.image ->> 'thumbnailPath'
  from ${rowsOf(tx, collections)}
  where collection.workspace_id = ${tx.context.workspaceId} and collection.id = any(${collections.map(({ id }) => id)}::uuid[])
    and collection.id = row.id and ${condition}`

/** The condition that no other collection has the collection's handle. */
export const isHandleFree = (tx: Transaction, { id, handle }: CollectionRecord) => tx`
  not exists (select from collection where workspace_id = ${tx.context.workspaceId} and handle = ${handle} and id <> ${id})`

/** The collection as changed now. Its time also tells a change of what the body does not show (OP-266). */
export const touched = (collection: CollectionRecord, now: Date): CollectionRecord => ({
  ...collection,
  updatedAt: laterThan(collection.updatedAt, now),
})

const rowsOf = (tx: Transaction, collections: readonly CollectionRecord[]) => tx`
  json_to_recordset(${JSON.stringify(collections)}::text::json) as row (${tx.unsafe(COLLECTION.sql.row)}, image json)`
