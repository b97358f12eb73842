import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Rows of a table that a plan has read, wanted or not. */
const readBy = (plan: Plan, table: string): number =>
  (plan['Relation Name']?.startsWith(table)
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, part) => sum + readBy(part, table), 0)

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
  return {
    sql,
    /** Rows of a table that the last statement with these words reads when it is run once more. */
    async rowsRead(table: string, words = ''): Promise<number> {
      const last = sent.findLast(({ text }) => text.includes(words) && !text.startsWith('explain'))
      if (last === undefined) throw new Error(`nothing was sent with ${words}`)
      const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
        `explain (analyze, format json) ${last.text}`,
        last.parameters as never[],
      )
      if (row === undefined) throw new Error('no plan')
      return readBy(row['QUERY PLAN'][0].Plan, table)
    },
  }
}
