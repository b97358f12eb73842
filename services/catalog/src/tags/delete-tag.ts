import { notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'

/** DELETE /v1/tags/{id} (extension of OP-19): untags its products, each of which fires product.updated soon (OP-37). */
export const deleteTag = operation({
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

/** Locks a tag, so that no product is tagged with it meanwhile; throws `not_found`. */
async function lockTag(tx: Transaction, id: string): Promise<Tag> {
  const [tag] = await tx<Tag[]>`
    select id, name, slug from tag where workspace_id = ${tx.context.workspaceId} and id = ${id} for update`
  if (tag === undefined) throw notFound(`id: this workspace has no tag ${id}`)
  return tag
}

/** In a later statement than the lock, which may have waited for a product to be tagged: this one's snapshot shows it. */
const removeTag = (tx: Transaction, { id }: Tag) => {
  const { workspaceId: workspace, livemode, traceparent } = tx.context
  return tx`
    with untagged as (
      delete from product_tag where workspace_id = ${workspace} and tag_id = ${id} returning product_id
    ), told as (
      insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
      select ${workspace}, product_id, true, ${livemode}, ${traceparent} from untagged order by product_id
    )
    delete from tag where workspace_id = ${workspace} and id = ${id}`
}
