import { Email } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { emailKey } from './customer.ts'

const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u
const MAX_WORDS = 10

/** The filters of a list of customers; a customer meets all filters that are sent (OP-132). */
export const CustomerFilters = z.strictObject({
  email: Email.optional(),
  query: z
    .string()
    .min(1)
    .max(LIMITS.nameLength)
    .regex(/[\p{L}\p{N}]/u, 'must hold a letter or a digit')
    .refine(
      (text) => text.split(BETWEEN_WORDS).filter(Boolean).length <= MAX_WORDS,
      `must have at most ${MAX_WORDS} words`,
    )
    .optional(),
})
export type CustomerFilters = z.output<typeof CustomerFilters>

/** A condition that all customers of a list meet. */
export interface Condition {
  /** A query for the ids of the customers that meet it. */
  readonly ids: SqlPart
  /** An expression: whether a row of `customer` meets it. */
  readonly holds: SqlPart
  /** An expression for the number of customers that meet it, from kept counts; absent where few meet it. */
  readonly count?: SqlPart
  /** About how many customers meet it. */
  readonly customers: number
  /** All customers meet it. */
  readonly isAny?: true
}

/**
 * The conditions of these filters, at least one; the one that the fewest customers meet comes first. Each combination of filters
 * makes a statement with a plan of its own. Sends a statement when there is a `query`.
 */
export async function conditionsOf(
  tx: Transaction,
  { email, query }: CustomerFilters,
): Promise<[Condition, ...Condition[]]> {
  const words = query === undefined ? [] : await wordsOf(tx, query)
  const conditions = [...(email === undefined ? [] : [hasEmail(tx, email)]), ...words.map((word) => hasWord(tx, word))]
  const [first = isAny(tx), ...others] = conditions.toSorted((one, other) => one.customers - other.customers)
  return [first, ...others]
}

const isAny = (tx: Transaction): Condition => ({
  ids: tx`select id from customer where workspace_id = ${tx.context.workspaceId}`,
  holds: tx`true`,
  count: keptCount(tx, tx`level = 0`),
  customers: Number.POSITIVE_INFINITY,
  isAny: true,
})

function hasEmail(tx: Transaction, email: string): Condition {
  const key = emailKey(email)
  return {
    ids: tx`select id from customer where workspace_id = ${tx.context.workspaceId} and email_key = ${key}`,
    holds: tx`email_key = ${key}`,
    customers: 1,
  }
}

const HIGHEST_CHARACTER = '\u{10ffff}'

/** A word of the name or of the e-mail address begins with this one. */
function hasWord(tx: Transaction, { word: prefix, customers }: Word): Condition {
  const end = prefix + HIGHEST_CHARACTER
  const length = [...prefix].length
  const level = [4, 12].find((level) => length <= level)
  const stems = tx`level = ${level ?? 0} and stem >= ${prefix} and stem < ${end} and shared < ${length}`
  return {
    ids: tx`
      select customer_id as id from customer_word
      where workspace_id = ${tx.context.workspaceId} and word >= ${prefix} and word < ${end} and previous < ${prefix}`,
    holds: tx`strpos(' ' || search_words, ${` ${prefix}`}) > 0`,
    customers,
    ...(level !== undefined && { count: keptCount(tx, stems) }),
  }
}

/** Two parts, since sums and changes have an index each. */
const keptCount = (tx: Transaction, holds: SqlPart) => tx`(
  select coalesce(sum(change), 0)::bigint from (
    select change from customer_count where workspace_id = ${tx.context.workspaceId} and ${holds} and is_sum
    union all
    select change from customer_count where workspace_id = ${tx.context.workspaceId} and ${holds} and not is_sum
  ) as counted
)`

/** A word of a search. */
interface Word {
  readonly word: string
  /** The number of customers that have a word with its first 12 characters. */
  readonly customers: number
}

/** The words of a search, folded as those of customers are. A prefix of another word is left out. */
async function wordsOf(tx: Transaction, query: string): Promise<Word[]> {
  // Materialized: behind row level security an index finds a stem by a column, not by a function of it.
  const words = await tx<Word[]>`
    with prefix as materialized (
      select word, left(word, 12) as stem, left(word, 12) || ${HIGHEST_CHARACTER} as stem_end,
        least(length(word), 12) as length, case when length(word) <= 4 then 4 else 12 end::smallint as level
      from words_of(fold_words(${query}))
    )
    select word, ${keptCount(tx, tx`level = prefix.level and stem >= prefix.stem and stem < stem_end and shared < length`)} as customers
    from prefix`
  return words.filter(({ word }) => !words.some((other) => other.word !== word && other.word.startsWith(word)))
}
