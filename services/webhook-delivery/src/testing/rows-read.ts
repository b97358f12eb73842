import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { planOf, rowsReadBy, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/** A parameter as a literal of SQL. */
function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  const text = Array.isArray(value) ? `{${value.map((each) => JSON.stringify(textOf(each)))}}` : textOf(value)
  return `'${text.replaceAll("'", "''")}'`
}

/** Connects as a service's workers do, and tells how many rows their statements read. */
export function countedReads(workerUrl: string) {
  const sent: SentStatement[] = []
  const { sql, stop } = openDatabase({
    url: workerUrl,
    applicationName: 'plans',
    poolSize: 1,
    settings: PLAN_ONCE_BY_KEYS,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  })
  whenDone(() => stop?.())
  const prepared = new Map<string, string>()
  /**
   * Runs the last statement with these words once more, and returns its plan. PostgreSQL makes the plan at the first
   * call, for any parameters, and keeps it, as it does for the workers.
   */
  const planOfLast = async (words: string) => {
    const last = sent.findLast(({ text }) => text.includes(words) && !/^(prepare|explain)/.test(text))
    if (last === undefined) throw new Error(`nothing was sent with ${words}`)
    const values = last.parameters.length > 0 ? `(${last.parameters.map(literalOf)})` : ''
    const name = prepared.get(last.text) ?? `explained_${prepared.size}`
    if (!prepared.has(last.text)) await sql.unsafe(`prepare ${name} as ${last.text}`)
    prepared.set(last.text, name)
    return planOf(sql, { text: `execute ${name} ${values}`, parameters: [] }, 'analyze')
  }
  return {
    sql,
    /** Rows of a table that the last statement with these words reads. */
    rowsRead: async (table: string, words = '') =>
      rowsReadBy((await planOfLast(words)).filter((part) => part['Relation Name']?.startsWith(table))),
    /** Rows that all parts of its plan see together: what is compared with each other counts each time. */
    rowsSeen: async (words: string) => rowsReadBy(await planOfLast(words)),
    /** The tables and partitions that its plan has. */
    tablesOf: async (words: string) =>
      new Set((await planOfLast(words)).flatMap((part) => part['Relation Name'] ?? [])),
  }
}
