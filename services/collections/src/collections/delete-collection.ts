import { TOPICS } from '@backoffice/contracts/events.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { laterThan, outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { retireMembershipVersions } from '../memberships/membership-versions.ts'
import { CollectionPath, lockCollection } from './collection.ts'

/** DELETE /v1/collections/{handle} (OP-32). */
export const deleteCollection = operation({
  operationId: 'deleteCollection',
  method: 'DELETE',
  path: '/v1/collections/{handle}',
  summary: 'Delete a collection',
  scope: 'product::delete',
  params: CollectionPath,
  responses: { 204: null },
  events: ['collection.deleted'],
  openPoints: ['OP-01', 'OP-32', 'OP-67'],
  extension: true,

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { id, updatedAt } = await lockCollection(tx, params.handle, 'EXCLUSIVE')
      await deleteCollections(tx, [id])
      await publish(
        tx,
        [outboxRecord(TOPICS.collectionsEvents, 'collection.deleted', id, { id })],
        laterThan(updatedAt, now),
      )
      return new Reply(204)
    }),
})

/** Deletes collections, which the caller has locked. The membership builder deletes their members afterwards. */
export async function deleteCollections(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await retireMembershipVersions(tx, ids)
  await tx`delete from collection where workspace_id = ${tx.context.workspaceId} and id = any(${[...ids]}::uuid[])`
}
