import { notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { refreshRequests } from '../refresh/refresh-requests.ts'

/** DELETE /v1/tags/{id} (extension of OP-19): untags its products, each of which fires product.updated soon (OP-37). */
export const deleteTag = operation({
  operationId: 'deleteTag',
  method: 'DELETE',
  path: '/v1/tags/{id}',
  summary: 'Delete a tag',
  scope: 'product::delete',
  params: z.strictObject({ id: Id }),
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-19', 'OP-37', 'OP-39', 'OP-67'],
  extension: true,

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const tag = await lockTag(tx, params.id)
      await removeTag(tx, tag)
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'tag.deleted', tag.id, tag)], now)
      return new Reply(204)
    }),
})

/** Locks a tag, so that no product gets it in the meantime. Throws `not_found`. */
async function lockTag(tx: Transaction, id: string): Promise<Tag> {
  const [tag] = await tx<Tag[]>`
    select id, name, slug from tag where workspace_id = ${tx.context.workspaceId} and id = ${id} for update`
  if (tag === undefined) throw notFound(['id'], `this workspace has no tag ${id}`)
  return tag
}

/** A later statement than the lock, so that its snapshot has the products tagged while the lock waited. */
const removeTag = (tx: Transaction, { id }: Tag) => {
  const workspace = tx.context.workspaceId
  return tx`
    with untagged as (
      delete from product_tag where workspace_id = ${workspace} and tag_id = ${id} returning product_id
    ), requested as (
      select product_id, true as is_change from untagged
    ), refresh as (
      ${refreshRequests(tx)}
    )
    delete from tag where workspace_id = ${workspace} and id = ${id}`
}
