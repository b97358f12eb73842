/** What breaks old replicas, which run on the schema of the next version during a deploy. */
const CONTRACTING: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'drops what old replicas use',
    /\bdrop (?:table|column|view|materialized view|function|procedure|type|schema|sequence)\b/,
  ],
  ['drops a default that old replicas rely on', /\bdrop default\b/],
  ['renames what old replicas use', /^(?!alter index\b).*\brename (?:to|column)\b/],
  ['refuses rows that old replicas write', /\bset not null\b/],
  ['refuses rows that old replicas write', /\badd column (?!.*\b(?:default|generated)\b).*\bnot null\b/],
  ['changes a type that old replicas read and write', /\balter column \S+ (?:set data )?type\b/],
  ['deletes what old replicas read', /\btruncate\b/],
]

/** A reason beside the statement allows it: old replicas no longer use what it takes away. */
const MARK = /--\s*contract: \S+/

/**
 * The statements of a migration that take something away from the version before, each with what it does. A statement
 * with a comment `-- contract: <reason>` is left out, and so are bodies of functions, which run later.
 */
export function contractingStatements(migration: string): string[] {
  return statementsOf(migration).flatMap(({ text, isMarked }) => {
    const clauses = /^alter table\b/.test(text) ? text.split(/,\s*(?=(?:add|alter|drop|rename)\b)/) : [text]
    return clauses.flatMap((clause) => {
      const found = CONTRACTING.find(([, pattern]) => pattern.test(clause))
      return found === undefined || isMarked ? [] : [`${found[0]}: ${clause}`]
    })
  })
}

/** Comments, texts, quoted bodies and the ends of statements. */
const TOKENS = /--[^\n]*|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|;/g

function statementsOf(migration: string): { text: string; isMarked: boolean }[] {
  const statements: { text: string; isMarked: boolean }[] = []
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
    else if (token[0].startsWith('--')) isMarked ||= MARK.test(token[0])
    else if (token[0].startsWith('$') && /^\s*do\b/i.test(text)) text += token[0].replaceAll(/--[^\n]*/g, '')
  }
  text += migration.slice(from)
  end()
  return statements
}
