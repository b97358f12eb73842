import { notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { laterThan, outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { deleteOrHide, lockMembers, untagProducts } from '../member-changes/member-changes.ts'

/**
 * DELETE /v1/tags/{id} (extension of OP-19): untags its products, the first thousand before the answer; each fires
 * product.updated soon (OP-37).
 */
export const deleteTag = operation({
  operationId: 'deleteTag',
  method: 'DELETE',
  path: '/v1/tags/{id}',
  summary: 'Delete a tag',
  scope: 'product::delete',
  responses: { 204: null },
  events: ['tag.deleted'],
  openPoints: ['OP-01', 'OP-19', 'OP-37', 'OP-39', 'OP-67', 'OP-167'],
  extension: true,

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const products = await lockMembers(tx, 'product_tag', params.id)
      const { createdAt, ...tag } = await lockTag(tx, params.id)
      await untagProducts(tx, products, tag.id)
      await deleteOrHide(tx, 'product_tag', tag.id)
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'tag.deleted', tag.id, tag)], laterThan(createdAt, now))
      return new Reply(204)
    }),
})

/** Locks a tag, so that no product gets it in the meantime. Throws `not_found`. */
async function lockTag(tx: Transaction, id: string): Promise<Tag & { createdAt: Date }> {
  const [tag] = await tx<(Tag & { createdAt: Date })[]>`
    select id, name, slug, uuid_extract_timestamp(id) as "createdAt" from tag
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and deleted_slug is null for update`
  if (tag === undefined) throw notFound(['id'], `this workspace has no tag ${id}`)
  return tag
}
