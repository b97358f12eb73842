import { isId, TimestampInput } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { PRODUCT_STATUSES, PRODUCT_TYPES } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u
const MAX_WORDS = 10

const Reference = z.string().min(1).max(LIMITS.nameLength)

/** The filters of a list of products; a product meets all filters that are sent (OP-92). */
export const ProductFilters = z.strictObject({
  status: z.enum(PRODUCT_STATUSES).optional(),
  type: z.enum(PRODUCT_TYPES).optional(),
  category: Reference.optional(),
  tag: Reference.optional(),
  sku: Reference.optional(),
  query: Reference.regex(/[\p{L}\p{N}]/u, 'must hold a letter or a digit')
    .refine(
      (text) => text.split(BETWEEN_WORDS).filter(Boolean).length <= MAX_WORDS,
      `must have at most ${MAX_WORDS} words`,
    )
    .optional(),
  updated_since: TimestampInput.optional(),
})
export type ProductFilters = z.output<typeof ProductFilters>

export type ProductSort = 'createdAt' | 'updatedAt' | 'name'

/** A condition that all products of a list meet. */
export interface Condition {
  /** A query for the ids of the products that meet it. */
  readonly ids: SqlPart
  /** An expression: whether a row of `product` meets it. */
  readonly holds: SqlPart
  /** An expression for the number of products that meet it, where there is one that is cheaper than counting. */
  readonly count?: SqlPart
  /** A query for these products that reads an index in order, `asc` or `desc`; for the sorts that have such an index. */
  readonly ordered?: { readonly by: readonly ProductSort[]; rows(way: SqlPart): SqlPart }
}

/**
 * The conditions of these filters, at least one. A statement is made of their parts, so that each combination of filters has a text,
 * and with it a plan, of its own. Sends a statement when there is a `query`.
 */
export async function conditionsOf(tx: Transaction, filters: ProductFilters): Promise<[Condition, ...Condition[]]> {
  const { status, type, category, tag, sku, query, updated_since: since } = filters
  const conditions: Condition[] = []
  if (sku !== undefined) conditions.push(hasSku(tx, sku))
  if (query !== undefined) conditions.push(...(await foldedWords(tx, query)).map((word) => hasWord(tx, word)))
  if (tag !== undefined) conditions.push(hasTag(tx, tag))
  if (category !== undefined) conditions.push(isInCategory(tx, category))
  if (since !== undefined) conditions.push(isUpdatedSince(tx, since))
  if (status !== undefined || type !== undefined) conditions.push(isOf(tx, status, type))
  const [first = isAny(tx), ...others] = conditions
  return [first, ...others]
}

function isAny(tx: Transaction): Condition {
  const rows = tx`select id, updated_at, name_words from product where workspace_id = ${tx.context.workspaceId}`
  return {
    ids: tx`select id from product where workspace_id = ${tx.context.workspaceId}`,
    holds: tx`true`,
    count: keptCount(tx),
    ordered: { by: ['createdAt', 'updatedAt', 'name'], rows: () => rows },
  }
}

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
      by: ['createdAt'],
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

/** By the category's id or slug. An unknown category has no products; a category does not have its descendants' products. */
const isInCategory = (tx: Transaction, reference: string): Condition =>
  isMember(tx, 'product_category', 'category_id', idOr(tx, reference, 'category', reference))

/** By the tag's id, slug or name: tags are the same when their slugs are (OP-25). */
const hasTag = (tx: Transaction, reference: string): Condition =>
  isMember(tx, 'product_tag', 'tag_id', idOr(tx, reference, 'tag', slugify(reference, 'tag')))

const idOr = (tx: Transaction, reference: string, table: string, slug: string) =>
  isId(reference)
    ? tx`${reference}::uuid`
    : tx`(select id from ${tx(table)} where workspace_id = ${tx.context.workspaceId} and slug = ${slug})`

function isMember(tx: Transaction, table: string, column: string, id: SqlPart): Condition {
  const members = tx`${tx(table)} where workspace_id = ${tx.context.workspaceId} and ${tx(column)} = ${id}`
  const ids = tx`select product_id as id from ${members}`
  return {
    ids,
    holds: tx`(select true from ${members} and product_id = product.id)`,
    ordered: { by: ['createdAt'], rows: () => ids },
  }
}

function hasSku(tx: Transaction, sku: string): Condition {
  const workspace = tx.context.workspaceId
  return {
    ids: tx`select product_id as id from variant where workspace_id = ${workspace} and sku = ${sku}`,
    holds: tx`(select true from variant where workspace_id = ${workspace} and product_id = product.id and sku = ${sku})`,
  }
}

/** At most this many older products are counted, and subtracted from the number of all. With more, the others are counted. */
const FEW_OTHERS = 10_000

/**
 * The longest time, in seconds, between the time of a change and its commit. A list that was read in between lacks the change, so
 * the next list goes back by this time (OP-92).
 */
const CHANGE_S = 60

function isUpdatedSince(tx: Transaction, sent: string): Condition {
  const workspace = tx.context.workspaceId
  const since = tx`(${sent}::timestamptz - make_interval(secs => ${CHANGE_S}))`
  const rows = tx`select id, updated_at from product where workspace_id = ${workspace} and updated_at >= ${since}`
  const others = tx`
    select from product where workspace_id = ${workspace} and updated_at < ${since}
    order by updated_at limit ${FEW_OTHERS + 1}`
  return {
    ids: tx`select id from product where workspace_id = ${workspace} and updated_at >= ${since}`,
    holds: tx`updated_at >= ${since}`,
    count: tx`(
      select case when others > ${FEW_OTHERS} then (select count(*) from (${rows}) as row) else ${keptCount(tx)} - others end
      from (select count(*) as others from (${others}) as other) as counted
    )`,
    ordered: { by: ['updatedAt'], rows: () => rows },
  }
}

/** A word of the name begins with this one. */
const hasWord = (tx: Transaction, prefix: string): Condition => ({
  ids: tx`
    select product_id as id from product_word
    where workspace_id = ${tx.context.workspaceId}
      and word >= ${prefix} and word < ${prefix + HIGHEST_CHARACTER} and previous < ${prefix}`,
  holds: tx`strpos(' ' || name_words, ${` ${prefix}`}) > 0`,
})

const HIGHEST_CHARACTER = '\u{10ffff}'

/** The words of a search, folded as the words of names are, the longest first. A prefix of another word is left out. */
async function foldedWords(tx: Transaction, query: string): Promise<string[]> {
  const [row] = await tx<[{ words: string[] }]>`
    select array(select word from words_of(fold_words(${query})) order by length(word) desc, word) as words`
  return row.words.filter((word, index, words) => !words.slice(0, index).some((longer) => longer.startsWith(word)))
}
