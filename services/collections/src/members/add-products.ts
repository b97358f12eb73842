import { ApiError } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { CollectionPath } from '../collections/collection.ts'
import { coversProduct } from '../memberships/build-membership-version.ts'
import {
  followsHandPicked,
  isHandPickedVersion,
  lockHandPickedCollection,
  ProductIds,
} from './hand-picked-collection.ts'
import { notePendingProducts } from './pending-products.ts'

/**
 * POST /v1/collections/{handle}/products (OP-33): adds at the end, in the order sent; members keep their positions. It
 * asks the catalog for unknown products between two transactions: no lock waits for another service.
 */
export const addProducts = (catalog: InternalCalls) =>
  operation({
    operationId: 'addProductsToCollection',
    method: 'POST',
    path: '/v1/collections/{handle}/products',
    summary: 'Add products to a collection',
    scope: 'product::create',
    params: CollectionPath,
    body: ProductIds,
    responses: { 204: null },
    openPoints: ['OP-08', 'OP-33', 'OP-34', 'OP-114', 'OP-117'],
    extension: true,

    async handle({ params, body: { products }, context, inWorkspace }) {
      const add = (existing: ReadonlySet<string>) =>
        inWorkspace(async (tx) => {
          const { id } = await lockHandPickedCollection(tx, params.handle)
          const { unknown, awaited } = await insertHandPicked(tx, id, products, existing)
          if (unknown.length > 0) throw new UnknownProducts(products, unknown)
          if (awaited.length > 0) await notePendingProducts(tx, awaited)
          return new Reply(204)
        })
      try {
        return await add(new Set())
      } catch (error) {
        if (!(error instanceof UnknownProducts)) throw error
        const ids = error.unknown.map((index) => products[index] ?? '')
        const existing = await findExisting(catalog, context, ids)
        const missing = error.unknown.filter((index) => !existing.has(products[index] ?? ''))
        if (missing.length > 0) throw new UnknownProducts(products, missing)
        return add(existing)
      }
    },
  })

/** `unknown` are the indexes of products, ascending. */
class UnknownProducts extends ApiError {
  readonly unknown: readonly number[]

  constructor(products: readonly string[], unknown: readonly number[]) {
    const [first = 0] = unknown
    super('unprocessable', `this workspace has no product ${products[first]}`, {
      path: ['products', first],
      errorReason: 'unknown_reference',
    })
    this.unknown = unknown
  }
}

/** What became of the products that the projection does not have. */
interface Inserted {
  /** The indexes of those that are neither members nor known to exist. */
  readonly unknown: number[]
  /** The ids of those that exist: now members, not shown before their state arrives. */
  readonly awaited: string[]
}

/**
 * Adds products in the order sent; one may occur twice. `existing` are those that catalog has confirmed, which the
 * projection may not have yet. The row is locked FOR SHARE: a change of the product commits before it is read here, or
 * it finds the new member.
 */
async function insertHandPicked(
  tx: Transaction,
  collectionId: string,
  products: readonly string[],
  existing: ReadonlySet<string>,
): Promise<Inserted> {
  const workspace = tx.context.workspaceId
  const [inserted] = await tx<[Inserted]>`
    with sent as (
      select id, min(ordinal) as ordinal,
        exists (select from product where workspace_id = ${workspace} and product.id = sent.id) as is_known,
        exists (
          select from membership_version join collection_member on version_number = number
          where ${isHandPickedVersion(tx, collectionId)} and product_id = sent.id
        ) as is_member
      from unnest(${[...products]}::uuid[]) with ordinality as sent (id, ordinal) group by id
    ),
    known as (
      select product.id, name, product.created_at, stock, status, ordinal
      from sent join product on product.workspace_id = ${workspace} and product.id = sent.id
      where not is_member
      order by product.id
      for share of product
    ),
    awaited as (
      select id, ordinal from sent where not is_known and not is_member and id = any(${[...existing]}::uuid[])
    ),
    joining as (
      select * from known union all select id, null, null, null, null, ordinal from awaited
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
        coalesce(sort_key(sort_order, name, placed.created_at, stock, position, 0), ''), coalesce(status = 'ACTIVE', false)
      from placed join membership_version on ${followsHandPicked(tx, collectionId)} and ${coversProduct(tx, tx`placed.id`)}
    )
    select
      array(
        select ordinal::integer - 1 from sent
        where not is_known and not is_member and id not in (select id from awaited) order by ordinal
      ) as unknown,
      array(select id from awaited) as awaited`
  return inserted
}

const Existing = z.object({ products: z.array(Id) })

/**
 * Finds those of the products that the workspace has: asks the catalog, where products are made. Throws
 * `service_unavailable` while it is away.
 */
async function findExisting(catalog: InternalCalls, caller: RequestContext, products: readonly string[]) {
  const path = '/internal/products/existing'
  const call = { caller, method: 'POST', path, body: { products }, answer: Existing } as const
  const { products: existing } = await catalog.send(call)
  return new Set(existing)
}
