import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Id, NonNegativeInteger } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { CollectionPath } from '../collections/collection.ts'
import { followsHandPicked, isHandPickedVersion, lockHandPickedCollection } from './hand-picked-collection.ts'

const Placement = namedObject('ProductPosition', { product: Id, position: NonNegativeInteger })
type Placement = z.output<typeof Placement>

/** PUT /v1/collections/{handle}/products/order (spec: Reorder rules; OP-34): other products keep their positions. */
export const reorderProducts = operation({
  operationId: 'reorderCollectionProducts',
  method: 'PUT',
  path: '/v1/collections/{handle}/products/order',
  summary: 'Set the positions of products in a collection',
  scope: 'product::update',
  params: CollectionPath,
  body: namedObject(
    'CollectionOrder',
    { positions: z.array(Placement).min(1).max(LIMITS.idsPerCall) },
    { positions: [{ product: '0198c7a0-0000-7000-8000-000000000001', position: 0 }] },
  ),
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-34', 'OP-35', 'OP-114'],

  handle({ params, body: { positions }, inWorkspace }) {
    return inWorkspace(async (tx) => {
      const { id } = await lockHandPickedCollection(tx, params.handle)
      refuseDuplicates(positions, 'product')
      refuseDuplicates(positions, 'position')
      const unknown = await setPositions(tx, id, positions)
      if (unknown === null) return new Reply(204)
      const product = positions[unknown]?.product
      throw unprocessable(
        ['positions', unknown, 'product'],
        `${product} is not in the collection; add it first`,
        'unknown_reference',
      )
    })
  },
})

function refuseDuplicates(positions: readonly Placement[], member: keyof Placement): void {
  const seen = new Set<unknown>()
  for (const [index, { [member]: value }] of positions.entries()) {
    if (seen.has(value)) throw unprocessable(['positions', index, member], `${value} is there twice; send it once`)
    seen.add(value)
  }
}

/** Members with the same position keep their order by `tie_breaker`. Returns the index of the first non-member. */
async function setPositions(
  tx: Transaction,
  collectionId: string,
  positions: readonly Placement[],
): Promise<number | null> {
  const products = positions.map(({ product }) => product)
  const numbers = positions.map(({ position }) => position)
  const [row] = await tx<[{ unknown: number | null }]>`
    with sent as (
      select * from unnest(${products}::uuid[], ${numbers}::bigint[]) with ordinality as sent (product_id, position, ordinal)
    ),
    affected as (
      select member.product_id, member.position, member.tie_breaker
      from membership_version join collection_member as member on version_number = number
      where ${isHandPickedVersion(tx, collectionId)}
        -- Subqueries are hashed once; with any(list) a generic plan compares each member with each value of the list.
        and (member.product_id in (select unnest(${products}::uuid[])) or member.position in (select unnest(${numbers}::bigint[])))
    ),
    placed as (
      select product_id, coalesce(sent.position, affected.position) as position,
        row_number() over (
          partition by coalesce(sent.position, affected.position)
          order by sent.position, affected.position, affected.tie_breaker, product_id -- nulls last: those not sent
        )::integer - 1 as tie_breaker
      from affected left join sent using (product_id)
    ),
    end_moved as (
      update collection set next_position = greatest(next_position, (select max(position) + 1 from placed))
      where workspace_id = ${tx.context.workspaceId} and id = ${collectionId}
    ),
    -- In the order in which every transaction locks members.
    locked as (
      select number, sort_order, placed.* from placed join membership_version on ${followsHandPicked(tx, collectionId)}
      join collection_member as member on version_number = number and member.product_id = placed.product_id
      where (member.position, member.tie_breaker) <> (placed.position, placed.tie_breaker)
      order by number, placed.product_id
      for no key update of member
    ),
    moved as (
      update collection_member as member set position = locked.position, tie_breaker = locked.tie_breaker,
        sort_key = case when sort_order = 'MANUAL'
          then sort_key('MANUAL', null, null, null, locked.position, locked.tie_breaker) else sort_key end
      from locked where version_number = number and member.product_id = locked.product_id
    )
    select min(ordinal)::integer - 1 as unknown from sent where product_id not in (select product_id from affected)`
  return row.unknown
}
