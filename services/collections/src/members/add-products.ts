import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { CollectionPath } from '../collections/handle.ts'
import { isReached } from './build-generation.ts'
import { lockPickedCollection, ofPicks, ProductIds, takingPicks } from './picked-collection.ts'

/** How long products that were created moments ago are waited for (OP-33). */
const WAIT_MS = 2000
const LOOK_EVERY_MS = 50

/** POST /v1/collections/{handle}/products (OP-33): at the end, in the order sent; a member stays where it is. */
export const addProducts = operation({
  method: 'POST',
  path: '/v1/collections/{handle}/products',
  summary: 'Add products to a collection',
  scope: 'product::create',
  params: CollectionPath,
  body: ProductIds,
  responses: { 204: null },
  openPoints: ['OP-08', 'OP-33', 'OP-34', 'OP-114'],
  extension: true,

  handle: ({ params, body: { products }, inWorkspace }) =>
    onceKnown(() =>
      inWorkspace(async (tx) => {
        const { id } = await lockPickedCollection(tx, params.handle)
        const unknown = await insertPicks(tx, id, products)
        if (unknown !== null) throw new UnknownProduct(unknown, products[unknown])
        return new Reply(204)
      }),
    ),
})

class UnknownProduct extends ApiError {
  constructor(index: number, id: string | undefined) {
    super('unprocessable', `products[${index}]: this workspace has no product ${id}`)
  }
}

/** Tries again while products are unknown, for as long as those created moments ago may take to be known here. */
async function onceKnown(add: () => Promise<Reply>): Promise<Reply> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return await add()
    } catch (error) {
      if (!(error instanceof UnknownProduct) || performance.now() > deadline) throw error
      await pause(LOOK_EVERY_MS)
    }
  }
}

/**
 * Adds the products that are no members yet, and returns the index of the first one that the workspace does not have. Their rows are
 * shared until the transaction ends: whoever changes a product meanwhile does so before it is read here, or finds the member.
 */
async function insertPicks(tx: Transaction, collectionId: string, products: readonly string[]): Promise<number | null> {
  const workspace = tx.context.workspaceId
  const [row] = await tx<[{ unknown: number | null }]>`
    with sent as (
      select id, min(ordinal) as ordinal from unnest(${[...products]}::uuid[]) with ordinality as sent (id, ordinal) group by id
    ),
    joining as (
      select product.id, name, product.created_at, stock, status, ordinal
      from sent join product on product.workspace_id = ${workspace} and product.id = sent.id
      where not exists (
        select from generation join member on member.generation = generation.number
        where ${ofPicks(tx, collectionId)} and member.product_id = sent.id
      )
      order by product.id
      for share of product
    ),
    numbered as (
      update collection set next_position = next_position + (select count(*) from joining)
      where workspace_id = ${workspace} and id = ${collectionId}
      returning next_position - (select count(*) from joining) as first
    ),
    placed as (
      select joining.*, first - 1 + row_number() over (order by ordinal) as position from joining cross join numbered
    ),
    added as (
      insert into member (workspace_id, generation, product_id, position, sort_key, is_available)
      select ${workspace}, generation.number, placed.id, position,
        sort_key(generation.sort_order, name, placed.created_at, stock, position, 0), status = 'ACTIVE'
      from placed join generation on ${takingPicks(tx, collectionId)} and ${isReached(tx, tx`placed.id`)}
    )
    select min(ordinal)::integer - 1 as unknown from sent
    where not exists (select from product where workspace_id = ${workspace} and product.id = sent.id)`
  return row.unknown
}
