import { Email, TimestampInput } from '@backoffice/contracts/fields.ts'
import { Words } from '@backoffice/contracts/pagination.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import {
  type Condition,
  HIGHEST_CHARACTER,
  hasWord,
  isUpdatedSince,
  withoutPrefixes,
} from '@backoffice/postgres/lists/conditions.ts'
import { z } from 'zod'
import { emailKey } from './customer.ts'

/** The filters of a list of customers; a customer meets all filters that are sent (OP-132). */
export const CustomerFilters = z.strictObject({
  email: Email.optional(),
  query: Words.optional(),
  updated_since: TimestampInput.optional(),
})
export type CustomerFilters = z.output<typeof CustomerFilters>

/**
 * The conditions of these filters; the one that the fewest customers meet comes first. Each combination
 * of filters makes a statement with a plan of its own. Sends a statement when there is a `query`.
 */
export async function conditionsOf(
  tx: Transaction,
  { email, query, updated_since: since }: CustomerFilters,
): Promise<Condition[]> {
  return [
    ...(email === undefined ? [] : [hasEmail(tx, email)]),
    ...(query === undefined ? [] : await searchedBy(tx, query)),
    ...(since === undefined ? [] : [isUpdatedSince(tx, listedCustomers(tx), since)]),
  ]
}

/** The conditions of `query`; the one that the fewest customers meet comes first. Sends a statement. */
export const searchedBy = async (tx: Transaction, query: string) =>
  (await wordsOf(tx, query)).map((word) => beginsWith(tx, word)).toSorted((one, other) => one.items - other.items)

/** What `foundPage` lists. */
export const listedCustomers = (tx: Transaction) => ({ table: 'customer', count: keptCount(tx, tx`level = 0`) })

function hasEmail(tx: Transaction, email: string): Condition {
  const key = emailKey(email)
  return {
    ids: tx`select id from customer where workspace_id = ${tx.context.workspaceId} and email_key = ${key}`,
    holds: tx`email_key = ${key}`,
    items: 1,
  }
}

const wordPlaces = (tx: Transaction) => ({
  table: tx`customer_word`,
  item: tx`customer_id`,
  words: tx`search_words || ' ' || more_words`,
})

/** A word of the name, the e-mail address or the phone number begins with this one (OP-220). Short ones are counted. */
function beginsWith(tx: Transaction, { word: prefix, customers }: Word) {
  const length = [...prefix].length
  const level = [4, 12].find((level) => length <= level)
  const stems = tx`
    level = ${level ?? 0} and stem >= ${prefix} and stem < ${prefix + HIGHEST_CHARACTER} and shared < ${length}`
  return {
    ...hasWord(tx, wordPlaces(tx), prefix),
    items: customers,
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

/** The words of a search, folded as those of customers are. */
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
  return withoutPrefixes(words)
}
