import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { CollectionPath } from '../collections/handle.ts'
import { coversProduct } from '../memberships/build-membership-version.ts'
import {
  followsHandPicked,
  isHandPickedVersion,
  lockHandPickedCollection,
  ProductIds,
} from './hand-picked-collection.ts'

/** How long a request waits for products that are not in the projection yet (OP-33). */
const WAIT_MS = 2000
const RETRY_EVERY_MS = 50

/** POST /v1/collections/{handle}/products (OP-33): adds products at the end, in the order sent; members keep their positions. */
export const addProducts = operation({
  operationId: 'addProductsToCollection',
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
    withRetries(() =>
      inWorkspace(async (tx) => {
        const { id } = await lockHandPickedCollection(tx, params.handle)
        const unknown = await insertHandPicked(tx, id, products)
        if (unknown !== null) throw new UnknownProduct(unknown, products[unknown] ?? '')
        return new Reply(204)
      }),
    ),
})

class UnknownProduct extends ApiError {
  constructor(index: number, id: string) {
    super('unprocessable', `this workspace has no product ${id}`, { path: ['products', index] })
  }
}

/** Tries again while a product is unknown: a new product takes moments to reach the projection. */
async function withRetries(add: () => Promise<Reply>): Promise<Reply> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return await add()
    } catch (error) {
      if (!(error instanceof UnknownProduct) || performance.now() > deadline) throw error
      await pause(RETRY_EVERY_MS)
    }
  }
}

/**
 * Adds the products that are not members yet. Returns the index of the first product that the workspace does not have. Locks the
 * products FOR SHARE: a transaction that changes one commits before the row is read here, or finds the new member.
 */
async function insertHandPicked(
  tx: Transaction,
  collectionId: string,
  products: readonly string[],
): Promise<number | null> {
  const workspace = tx.context.workspaceId
  const [row] = await tx<[{ unknown: number | null }]>`
    with sent as (
      select id, min(ordinal) as ordinal from unnest(${[...products]}::uuid[]) with ordinality as sent (id, ordinal) group by id
    ),
    joining as (
      select product.id, name, product.created_at, stock, status, ordinal
      from sent join product on product.workspace_id = ${workspace} and product.id = sent.id
      where not exists (
        select from membership_version join collection_member on version_number = number
        where ${isHandPickedVersion(tx, collectionId)} and product_id = sent.id
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
      insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
      select ${workspace}, number, placed.id, position,
        sort_key(sort_order, name, placed.created_at, stock, position, 0), status = 'ACTIVE'
      from placed join membership_version on ${followsHandPicked(tx, collectionId)} and ${coversProduct(tx, tx`placed.id`)}
    )
    select min(ordinal)::integer - 1 as unknown from sent
    where not exists (select from product where workspace_id = ${workspace} and product.id = sent.id)`
  return row.unknown
}
