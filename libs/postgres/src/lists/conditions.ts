import type { SqlPart } from '../comma-separated.ts'
import type { Transaction } from '../database.ts'
import type { SortColumn } from './list-page.ts'

/** A condition that all items of a list meet. */
export interface Condition {
  /** A query for the ids of the items that meet it. */
  readonly ids: SqlPart
  /** An expression: whether a row of the list's table meets it. */
  readonly holds: SqlPart
  /** An expression for the number of items that meet it, where there is one that is cheaper than counting. */
  readonly count?: SqlPart
  /** About how many items meet it, where that is known. */
  readonly items?: number
  /** A query for these items that reads an index in order, `asc` or `desc`; for the sorts that have such an index. */
  readonly ordered?: { readonly by: readonly SortColumn[]; rows(way: SqlPart): SqlPart }
}

/** A table whose rows are listed by conditions. */
export interface ListedTable {
  readonly table: string
  /** An expression for the kept number of the workspace's rows. */
  readonly count: SqlPart
}

/** The condition that all items meet. */
export function isAny(tx: Transaction, { table, count }: ListedTable): Condition {
  const rows = tx`select id, updated_at, name_words from ${tx(table)} where workspace_id = ${tx.context.workspaceId}`
  return { ids: rows, holds: tx`true`, count, ordered: { by: ['id', 'updated_at', 'name_words'], rows: () => rows } }
}

/**
 * The longest time, in seconds, between the time of a change and its commit. A list that was read in between lacks the
 * change, so the next list goes back by this time (OP-92).
 */
const CHANGE_S = 60

/** The time from which on a change is one since `sent`, which a client read a list at. */
export const sinceChange = (tx: Transaction, sent: string): SqlPart =>
  tx`(${sent}::timestamptz - make_interval(secs => ${CHANGE_S}))`

/** At most so many older items are counted, and subtracted from all. With more, the others are counted. */
const FEW_OTHERS = 10_000

/** Changed at this time or later. */
export function isUpdatedSince(tx: Transaction, { table, count }: ListedTable, sent: string): Condition {
  const since = sinceChange(tx, sent)
  const from = tx`from ${tx(table)} where workspace_id = ${tx.context.workspaceId}`
  const rows = tx`select id, updated_at ${from} and updated_at >= ${since}`
  const others = tx`select ${from} and updated_at < ${since} order by updated_at limit ${FEW_OTHERS + 1}`
  return {
    ids: tx`select id ${from} and updated_at >= ${since}`,
    holds: tx`updated_at >= ${since}`,
    count: tx`(
      select case when others > ${FEW_OTHERS} then (select count(*) from (${rows}) as row) else ${count} - others end
      from (select count(*) as others from (${others}) as other) as counted
    )`,
    ordered: { by: ['updated_at'], rows: () => rows },
  }
}

export const HIGHEST_CHARACTER = '\u{10ffff}'

/** Where the words of items are: a table of each word with its item and the word before, and a column of all. */
interface WordPlaces {
  readonly table: SqlPart
  readonly item: SqlPart
  readonly words: SqlPart
}

/** A word of the item begins with this one. */
export const hasWord = (tx: Transaction, { table, item, words }: WordPlaces, prefix: string): Condition => ({
  ids: tx`
    select ${item} as id from ${table}
    where workspace_id = ${tx.context.workspaceId}
      and word >= ${prefix} and word < ${prefix + HIGHEST_CHARACTER} and previous < ${prefix}`,
  holds: tx`strpos(' ' || ${words}, ${` ${prefix}`}) > 0`,
})

/** Words without those that another one begins with: it holds wherever the other does. */
export const withoutPrefixes = <Word extends { readonly word: string }>(words: readonly Word[]): Word[] =>
  words.filter(({ word }) => !words.some((other) => other.word !== word && other.word.startsWith(word)))
