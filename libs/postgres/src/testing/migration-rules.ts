import { isWithoutTransaction } from '../migration-files.ts'

interface Rule {
  /** What a statement that breaks the rule does. */
  readonly does: string
  readonly pattern: RegExp
}

/** What breaks old replicas, which run on the schema of the next version during a deploy. */
const CONTRACTING: readonly Rule[] = [
  {
    does: 'drops what old replicas use',
    pattern: /\bdrop (?:table|column|view|materialized view|function|procedure|type|schema|sequence)\b/,
  },
  { does: 'drops a default that old replicas rely on', pattern: /\bdrop default\b/ },
  { does: 'renames what old replicas use', pattern: /^(?!alter index\b).*\brename (?:to|column)\b/ },
  {
    does: 'refuses rows that old replicas write',
    pattern: /\bset not null\b|\badd (?:constraint \S+ )?check \(\S+ is not null\)/,
  },
  {
    does: 'refuses rows that old replicas write',
    pattern: /\badd column (?!.*\b(?:default|generated)\b).*\bnot null\b/,
  },
  {
    does: 'changes a type that old replicas read and write',
    pattern: /\balter column \S+ (?:set data )?type\b/,
  },
  { does: 'deletes what old replicas read', pattern: /\btruncate\b/ },
]

/** What reads or changes all rows of a table while it keeps requests from it. */
const BLOCKING: readonly Rule[] = [
  {
    does: 'blocks writers while it builds an index',
    pattern: /^create (?:unique )?index (?!concurrently\b)(?!.* on only )|^reindex (?!.*\bconcurrently\b)/,
  },
  {
    does: 'blocks writers while it builds an index',
    pattern: /\badd (?:constraint \S+ )?(?:unique|primary key|exclude)\b(?!.*\busing index\b)/,
  },
  {
    does: 'blocks writers while it checks all rows',
    pattern: /\badd (?:constraint \S+ )?(?:check|foreign key)\b(?!.*\bnot valid\b)/,
  },
  { does: 'rewrites the table', pattern: /\badd column .*\bgenerated always as \(.*\) stored\b/ },
  {
    does: 'rewrites the table',
    pattern: /\badd column .*\bdefault .*\b(?:uuidv\d|gen_random_uuid|random|nextval|clock_timestamp)\b/,
  },
  { does: 'rewrites the table', pattern: /^(?:cluster|vacuum full)\b|\bset (?:logged|unlogged|tablespace)\b/ },
  { does: 'changes all rows in one transaction', pattern: /^call backfill\b/ },
]

/** A reason beside the statement allows what it takes away: old replicas no longer use it. */
const CONTRACT_MARK = /--\s*contract: \S+/
/** A reason beside the statement allows that it blocks: why the table has few rows. */
const BLOCKS_MARK = /--\s*blocks: \S+/

/**
 * The statements of a migration that take something away from the version before, each with what it does. A statement
 * with a comment `-- contract: <reason>` is left out, and so are bodies of functions, which run later.
 */
export const contractingStatements = (migration: string): string[] =>
  broken(CONTRACTING, statementsOf(migration, CONTRACT_MARK))

/** The tables, views, functions and the like that a migration drops. */
export const droppedNames = (migration: string): string[] =>
  statementsOf(migration, CONTRACT_MARK).flatMap(({ text }) => {
    const [, names = ''] = /^drop (?:table|view|materialized view|function|procedure|sequence) (.*)$/.exec(text) ?? []
    return names
      .replaceAll(/\([^)]*\)|\bif exists\b|\b(?:cascade|restrict)\b/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
  })

/**
 * The statements of a migration that keep requests from a table for as long as it has rows, each with what it does. A
 * statement on a table that the same migration creates is left out, and so is one with a comment `-- blocks: <reason>`.
 * Of a migration without a transaction also those that cannot be repeated after a crash.
 */
export function blockingStatements(migration: string): string[] {
  const statements = statementsOf(migration, BLOCKS_MARK)
  const created = new Set(statements.flatMap(({ text }) => /^create (?:unlogged )?table (\S+)/.exec(text)?.[1] ?? []))
  const onOlderTables = statements.filter(({ text }) => !created.has(tableOf(text) ?? ''))
  const unrepeatable = isWithoutTransaction(migration) ? unrepeatableStatements(statements) : []
  return [...broken(BLOCKING, onOlderTables), ...unrepeatable]
}

const tableOf = (statement: string): string | undefined =>
  /^(?:alter table (?:if exists )?(?:only )?|create (?:unique )?index .*? on )(\w+)/.exec(statement)?.[1]

/** An index that a crash left half built is invalid and keeps its name, so it is dropped before it is built. */
function unrepeatableStatements(statements: readonly Statement[]): string[] {
  const dropped = new Set<string>()
  return statements.flatMap(({ text }) => {
    const [, verb, name = ''] = /^(drop|create(?: unique)?) index concurrently (?:if exists )?(\w+)/.exec(text) ?? []
    if (verb === 'drop') dropped.add(name)
    const isRepeatable = verb === 'drop' || dropped.has(name) || /^alter table \S+ validate constraint \S+$/.test(text)
    return isRepeatable ? [] : [`cannot be repeated after a crash: ${text}`]
  })
}

function broken(rules: readonly Rule[], statements: readonly Statement[]): string[] {
  return statements.flatMap(({ text, isMarked }) => {
    const clauses = /^alter table\b/.test(text) ? text.split(/,\s*(?=(?:add|alter|drop|rename)\b)/) : [text]
    return clauses.flatMap((clause) => {
      const found = rules.find(({ pattern }) => pattern.test(clause))
      return found === undefined || isMarked ? [] : [`${found.does}: ${clause}`]
    })
  })
}

interface Statement {
  /** In small letters, without comments and quoted texts. */
  readonly text: string
  readonly isMarked: boolean
}

/** Comments, texts, quoted bodies and the ends of statements. */
const TOKENS = /--[^\n]*|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|;/g

function statementsOf(migration: string, mark: RegExp): Statement[] {
  const statements: Statement[] = []
  let [text, isMarked] = ['', false]
  let from = 0
  const end = () => {
    const plain = text.replaceAll(/\s+/g, ' ').trim().toLowerCase()
    if (plain !== '') statements.push({ text: plain, isMarked })
    ;[text, isMarked] = ['', false]
  }
  for (const token of migration.matchAll(TOKENS)) {
    text += migration.slice(from, token.index)
    from = token.index + token[0].length
    if (token[0] === ';') end()
    else if (token[0].startsWith('--')) isMarked ||= mark.test(token[0])
    else if (token[0].startsWith('$') && /^\s*do\b/i.test(text)) text += token[0].replaceAll(/--[^\n]*/g, '')
  }
  text += migration.slice(from)
  end()
  return statements
}
