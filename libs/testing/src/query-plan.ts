import type { AnySql, Database, WorkspaceContext } from '@backoffice/postgres/database.ts'

/** A statement as it was sent (`onStatement`). */
export interface SentStatement {
  readonly text: string
  readonly parameters: unknown[]
}

/** A part of a plan. It has what was counted after `analyze` only, and blocks after `buffers`. */
export interface PlanPart {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanPart[]
}

/** All parts of the plan of a statement, the outermost first. With `generic_plan` it is made for any parameters. */
export async function planOf(
  sql: AnySql,
  { text, parameters }: SentStatement,
  ...options: ('analyze' | 'buffers' | 'generic_plan')[]
): Promise<readonly PlanPart[]> {
  const given = options.includes('generic_plan') ? [] : parameters
  const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: PlanPart }] }[]>(
    `explain (${['format json', ...options]}) ${text}`,
    given as never[],
  )
  if (row === undefined) throw new Error('no plan')
  return partsOf(row['QUERY PLAN'][0].Plan)
}

const partsOf = (plan: PlanPart): PlanPart[] => [plan, ...(plan.Plans ?? []).flatMap(partsOf)]

/** The plans of statements, made for their parameters and made for any, as the app role of a workspace. */
export const plansOf = (
  db: Pick<Database, 'inWorkspace'>,
  caller: Omit<WorkspaceContext, 'traceparent'>,
  statements: readonly SentStatement[],
  ...options: ('analyze' | 'buffers')[]
) =>
  db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => {
    const plans = { custom: [] as (readonly PlanPart[])[], generic: [] as (readonly PlanPart[])[] }
    for (const statement of statements) {
      plans.custom.push(await planOf(tx, statement, ...options))
      plans.generic.push(await planOf(tx, statement, 'generic_plan'))
    }
    return plans
  })

/** The rows that parts of a plan have read, wanted or not. */
export const rowsReadBy = (parts: readonly PlanPart[]): number =>
  parts.reduce((sum, part) => {
    const removed = (part['Rows Removed by Filter'] ?? 0) + (part['Rows Removed by Join Filter'] ?? 0)
    return sum + ((part['Actual Rows'] ?? 0) + removed) * (part['Actual Loops'] ?? 0)
  }, 0)

/** The tables of these that parts of a plan read as a whole. */
export const readWhole = (parts: readonly PlanPart[], tables: readonly string[]): PlanPart[] =>
  parts.filter((part) => part['Node Type'].endsWith('Seq Scan') && tables.includes(part['Relation Name'] ?? ''))

/** The indexes that parts of a plan use. */
export const indexesOf = (parts: readonly PlanPart[]): string[] => [
  ...new Set(parts.flatMap((part) => part['Index Name'] ?? [])),
]
