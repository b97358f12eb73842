import { TOPICS } from '@backoffice/contracts/events.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { retireMembershipVersions } from '../memberships/membership-versions.ts'
import { lockCollection } from './collection.ts'
import { CollectionPath } from './handle.ts'

/** DELETE /v1/collections/{handle} (OP-32). The membership builder deletes its members afterwards. */
export const deleteCollection = operation({
  operationId: 'deleteCollection',
  method: 'DELETE',
  path: '/v1/collections/{handle}',
  summary: 'Delete a collection',
  scope: 'product::delete',
  params: CollectionPath,
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-32', 'OP-67'],
  extension: true,

  handle: ({ params, context, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { id } = await lockCollection(tx, params.handle, 'EXCLUSIVE')
      await retireMembershipVersions(tx, [id])
      await tx`delete from collection where workspace_id = ${context.workspaceId} and id = ${id}`
      await publish(tx, [outboxRecord(TOPICS.collectionsEvents, 'collection.deleted', id, { id })], now)
      return new Reply(204)
    }),
})
