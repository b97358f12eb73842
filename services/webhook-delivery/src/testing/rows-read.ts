import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Plan[]
}

/** A plan and all its parts. */
const partsOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(partsOf)]

/** Rows that a part of a plan has seen, wanted or not. */
const rowsOf = (part: Plan): number =>
  (part['Actual Rows'] + (part['Rows Removed by Filter'] ?? 0) + (part['Rows Removed by Join Filter'] ?? 0)) *
  part['Actual Loops']

const sumOf = (parts: readonly Plan[]): number => parts.reduce((sum, part) => sum + rowsOf(part), 0)

/** Connects as a service's workers do, and tells how many rows their statements read. */
export function countedReads(workerUrl: string) {
  const sent: { text: string; parameters: unknown[] }[] = []
  const { sql, stop } = openDatabase({
    url: workerUrl,
    applicationName: 'plans',
    poolSize: 1,
    settings: PLAN_ONCE_BY_KEYS,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  })
  whenDone(() => stop?.())
  /** The plan of the last statement with these words, which is run once more. */
  const planOf = async (words: string) => {
    const last = sent.findLast(({ text }) => text.includes(words) && !text.startsWith('explain'))
    if (last === undefined) throw new Error(`nothing was sent with ${words}`)
    const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
      `explain (analyze, format json) ${last.text}`,
      last.parameters as never[],
    )
    if (row === undefined) throw new Error('no plan')
    return partsOf(row['QUERY PLAN'][0].Plan)
  }
  return {
    sql,
    /** Rows of a table that the last statement with these words reads. */
    rowsRead: async (table: string, words = '') =>
      sumOf((await planOf(words)).filter((part) => part['Relation Name']?.startsWith(table))),
    /** Rows that all parts of its plan see together: what is compared with each other counts each time. */
    rowsSeen: async (words: string) => sumOf(await planOf(words)),
    /** The tables and partitions that its plan has. */
    tablesOf: async (words: string) => new Set((await planOf(words)).flatMap((part) => part['Relation Name'] ?? [])),
  }
}
