import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Id, NonNegativeInteger } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { CollectionPath } from '../collections/handle.ts'
import { lockPickedCollection, ofPicks, takingPicks } from './picked-collection.ts'

const Placement = z.strictObject({ product: Id, position: NonNegativeInteger })
type Placement = z.output<typeof Placement>

/**
 * PUT /v1/collections/{handle}/products/order (spec: Reorder rules; OP-34): products take the positions sent, the others keep
 * theirs.
 */
export const reorderProducts = operation({
  method: 'PUT',
  path: '/v1/collections/{handle}/products/order',
  summary: 'Set the positions of products in a collection',
  scope: 'product::update',
  params: CollectionPath,
  body: z.strictObject({ positions: z.array(Placement).min(1).max(LIMITS.idsPerCall) }),
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-34', 'OP-35', 'OP-114'],

  handle({ params, body: { positions }, inWorkspace }) {
    refuseTwice(positions, 'product')
    refuseTwice(positions, 'position')
    return inWorkspace(async (tx) => {
      const { id } = await lockPickedCollection(tx, params.handle)
      const stranger = await place(tx, id, positions)
      if (stranger === null) return new Reply(204)
      const product = positions[stranger]?.product
      throw unprocessable(`positions[${stranger}].product: ${product} is not in the collection; add it first`)
    })
  },
})

function refuseTwice(positions: readonly Placement[], member: keyof Placement): void {
  const seen = new Set<unknown>()
  for (const [index, { [member]: value }] of positions.entries()) {
    if (seen.has(value)) throw unprocessable(`positions[${index}].${member}: ${value} is there twice; send it once`)
    seen.add(value)
  }
}

/**
 * Gives members their positions; of those that come to one position, the one that was further ahead comes first. Returns the index
 * of the first product that is no member.
 */
async function place(tx: Transaction, collectionId: string, positions: readonly Placement[]): Promise<number | null> {
  const products = positions.map(({ product }) => product)
  const taken = positions.map(({ position }) => position)
  const [row] = await tx<[{ stranger: number | null }]>`
    with sent as (
      select * from unnest(${products}::uuid[], ${taken}::bigint[]) with ordinality as sent (product_id, position, ordinal)
    ),
    picked as (
      select member.product_id, member.position, member.tie
      from generation join member on member.generation = generation.number
      where ${ofPicks(tx, collectionId)}
        -- As hashed sets: a list that a kept plan takes for a parameter is gone through for each member.
        and (member.product_id in (select unnest(${products}::uuid[])) or member.position in (select unnest(${taken}::bigint[])))
    ),
    placed as (
      select product_id, coalesce(sent.position, picked.position) as position,
        row_number() over (
          partition by coalesce(sent.position, picked.position) order by picked.position, picked.tie, product_id
        )::integer - 1 as tie
      from picked left join sent using (product_id)
    ),
    later as (
      update collection set next_position = greatest(next_position, (select max(position) + 1 from placed))
      where workspace_id = ${tx.context.workspaceId} and id = ${collectionId}
    ),
    -- In one order, as all who lock several members.
    moving as (
      select number, sort_order, placed.* from placed join generation on ${takingPicks(tx, collectionId)}
      join member on member.generation = number and member.product_id = placed.product_id
      where (member.position, member.tie) <> (placed.position, placed.tie)
      order by number, placed.product_id
      for no key update of member
    ),
    moved as (
      update member set position = moving.position, tie = moving.tie,
        sort_key = case when sort_order = 'MANUAL'
          then sort_key('MANUAL', null, null, null, moving.position, moving.tie) else sort_key end
      from moving where member.generation = number and member.product_id = moving.product_id
    )
    select min(ordinal)::integer - 1 as stranger from sent where product_id not in (select product_id from picked)`
  return row.stranger
}
