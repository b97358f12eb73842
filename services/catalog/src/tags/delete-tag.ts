import { notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { lockMembers } from '../member-changes/member-changes.ts'
import { untagProducts } from '../member-changes/untag-products.ts'

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
  openPoints: ['OP-01', 'OP-19', 'OP-37', 'OP-39', 'OP-67'],
  extension: true,

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const products = await lockMembers(tx, 'product_tag', params.id)
      const tag = await lockTag(tx, params.id)
      await untagProducts(tx, products, tag.id)
      await removeTag(tx, tag)
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'tag.deleted', tag.id, tag)], now)
      return new Reply(204)
    }),
})

/** Locks a tag, so that no product gets it in the meantime. Throws `not_found`. */
async function lockTag(tx: Transaction, id: string): Promise<Tag> {
  const [tag] = await tx<Tag[]>`
    select id, name, slug from tag
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and deleted_slug is null for update`
  if (tag === undefined) throw notFound(['id'], `this workspace has no tag ${id}`)
  return tag
}

/**
 * Deletes a locked tag; while it has products it is hidden, and a worker untags them and then deletes it. A separate
 * statement, so that its snapshot has the products as they are now.
 */
const removeTag = (tx: Transaction, { id }: Tag) => {
  const workspace = tx.context.workspaceId
  return tx`
    with deleted as materialized (
      select id, exists (select from product_tag where workspace_id = ${workspace} and tag_id = ${id}) as "hasProducts"
      from tag where workspace_id = ${workspace} and id = ${id}
    ), hidden as (
      update tag set deleted_slug = slug, slug = 'deleted ' || deleted.id
      from deleted
      where workspace_id = ${workspace} and tag.id = deleted.id and "hasProducts"
      returning tag.id
    ), waiting as (
      insert into member_change (workspace_id, kind, of_id, livemode, traceparent)
      select ${workspace}, 'TAG_DELETED', id, ${tx.context.livemode}, ${tx.context.traceparent} from hidden
    )
    delete from tag using deleted where workspace_id = ${workspace} and tag.id = deleted.id and not "hasProducts"`
}
