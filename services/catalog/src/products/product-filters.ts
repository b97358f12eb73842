import { isId, Reference, TimestampInput } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { Words } from '@backoffice/contracts/pagination.ts'
import { PRODUCT_STATUSES, PRODUCT_TYPES } from '@backoffice/contracts/product.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type Condition, hasWord, isUpdatedSince, withoutPrefixes } from '@backoffice/postgres/lists/conditions.ts'
import { z } from 'zod'
import { keptName, namesOf } from './references.ts'

const Name = z.string().min(1).max(LIMITS.nameLength)

/** The filters of a list of products; a product meets all filters that are sent (OP-92). */
export const ProductFilters = z.strictObject({
  status: z.enum(PRODUCT_STATUSES).optional(),
  type: z.enum(PRODUCT_TYPES).optional(),
  category: Reference.optional(),
  tag: Name.optional(),
  sku: Name.optional(),
  query: Words.optional(),
  updated_since: TimestampInput.optional(),
})
export type ProductFilters = z.output<typeof ProductFilters>

/**
 * The conditions of these filters. A statement is made of their parts, so that each combination of
 * filters has a text, and with it a plan, of its own. Sends a statement when there is a `query`.
 */
export async function conditionsOf(tx: Transaction, filters: ProductFilters): Promise<Condition[]> {
  const { status, type, category, tag, sku, query, updated_since: since } = filters
  const conditions: Condition[] = []
  if (sku !== undefined) conditions.push(hasSku(tx, sku))
  if (query !== undefined)
    conditions.push(...(await wordsOf(tx, query)).map((word) => hasWord(tx, wordPlaces(tx), word)))
  if (tag !== undefined) conditions.push(hasTag(tx, tag))
  if (category !== undefined) conditions.push(isInCategory(tx, category))
  if (since !== undefined) conditions.push(isUpdatedSince(tx, listedProducts(tx), since))
  if (status !== undefined || type !== undefined) conditions.push(isOf(tx, status, type))
  return conditions
}

/** What `foundPage` lists. */
export const listedProducts = (tx: Transaction) => ({ table: 'product', count: keptCount(tx) })

const keptCount = (tx: Transaction, holds = tx`true`) => tx`(
  select coalesce(sum(change), 0)::bigint from product_count where workspace_id = ${tx.context.workspaceId} and ${holds}
)`

function isOf(tx: Transaction, status?: string, type?: string): Condition {
  const workspace = tx.context.workspaceId
  const holds = tx`
    ${status === undefined ? tx`true` : tx`status = ${status}`} and ${type === undefined ? tx`true` : tx`type = ${type}`}`
  return {
    ids: tx`select id from product where workspace_id = ${workspace} and ${holds}`,
    holds,
    count: keptCount(tx, holds),
    ordered: {
      by: ['id'],
      // The index holds the products of one status and type in order; the server merges several.
      rows: (way) =>
        (status === undefined ? PRODUCT_STATUSES : [status])
          .flatMap((status) =>
            (type === undefined ? PRODUCT_TYPES : [type]).map(
              (type) => tx`(
                select id from product where workspace_id = ${workspace} and status = ${status} and type = ${type}
                order by id ${way}
              )`,
            ),
          )
          .reduce((all, products) => tx`${all} union all ${products}`),
    },
  }
}

/** By the category's id or slug. An unknown one has no products; none has its descendants' products. */
const isInCategory = (tx: Transaction, reference: string): Condition =>
  isMember(tx, 'product_category', 'category_id', idOf(tx, reference, tx`category`, tx`slug = ${reference}`))

/** By the tag's id, slug or name in any case (OP-25); a slug comes before a name. */
function hasTag(tx: Transaction, reference: string): Condition {
  const text = keptName(reference)
  const folded = tx`array(select lower(name) from unnest(${namesOf({ name: reference })}::text[]) as name)`
  const named = tx`(slug = ${text} or folded_name = any(${folded}))
    order by slug = ${text} desc, name = ${text} desc, id limit 1`
  return isMember(tx, 'product_tag', 'tag_id', idOf(tx, reference, tx`tag`, named))
}

/** The id of the reference, or of what the condition finds. One that is deleted still has products (OP-167). */
const idOf = (tx: Transaction, reference: string, table: SqlPart, condition: SqlPart) => tx`(
  select id from ${table} where workspace_id = ${tx.context.workspaceId} and deleted_slug is null
    and ${isId(reference) ? tx`id = ${reference}` : condition}
)`

function isMember(tx: Transaction, table: string, column: string, id: SqlPart): Condition {
  const members = tx`${tx(table)} where workspace_id = ${tx.context.workspaceId} and ${tx(column)} = ${id}`
  const ids = tx`select product_id as id from ${members}`
  return {
    ids,
    holds: tx`(select true from ${members} and product_id = product.id)`,
    ordered: { by: ['id'], rows: () => ids },
  }
}

function hasSku(tx: Transaction, sku: string): Condition {
  const { ids, holds } = isMember(tx, 'variant', 'sku', tx`${sku}`)
  return { ids, holds }
}

const wordPlaces = (tx: Transaction) => ({
  table: tx`product_word`,
  item: tx`product_id`,
  words: tx`name_words || ' ' || more_words`,
})

/** The words of a search, folded as the words of names are, the longest first. */
async function wordsOf(tx: Transaction, query: string): Promise<string[]> {
  const words = await tx<{ word: string }[]>`
    select word from words_of(fold_words(${query})) order by length(word) desc, word`
  return withoutPrefixes(words).map(({ word }) => word)
}
