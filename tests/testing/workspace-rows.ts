import { readdirSync } from 'node:fs'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import type { TestStack } from './stack.ts'

/** Tables that name a deleted workspace by its id: for good, requests for seven days, the outbox for an hour. */
const KEPT = [
  'apps.outbox',
  'gateway.audit',
  'gateway.outbox',
  'gateway.request_log',
  'gateway.workspace_deletion',
  ...SERVICE_NAMES.map((name) => `${schemaOf(name)}.deleted_workspace`),
]
/** Tables whose rows are written, merged or deleted in the background. */
const CHANGES_BY_ITSELF = /outbox|daily_requests|_count|_change|product_refresh|membership_version|claim/

interface Table {
  schema: string
  name: string
}

const tablesOf = (stack: TestStack) => stack.sql<Table[]>`
  select schemaname as schema, tablename as name from pg_tables
  where schemaname = any(${SERVICE_NAMES.map(schemaOf)}) order by 1, 2`

/** The tables of all services that have the id somewhere in a row, with their number of such rows. */
export async function rowsNaming(stack: TestStack, id: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { schema, name } of await tablesOf(stack)) {
    const [row] = await stack.sql<[{ rows: number }]>`
      select count(*)::int as rows from ${stack.sql(schema)}.${stack.sql(name)} as row where row::text like ${`%${id}%`}`
    if (row.rows > 0 && !KEPT.includes(`${schema}.${name}`)) found[`${schema}.${name}`] = row.rows
  }
  return found
}

/** As rowsNaming, without tables that change by themselves. */
export const lastingRowsNaming = async (stack: TestStack, id: string): Promise<Record<string, number>> =>
  Object.fromEntries(Object.entries(await rowsNaming(stack, id)).filter(([name]) => !CHANGES_BY_ITSELF.test(name)))

/** The stored files with the id in their path. */
export const filesNaming = ({ directory }: TestStack, id: string): string[] =>
  ['assets', 'imports'].flatMap((folder) =>
    readdirSync(`${directory}/${folder}`, { recursive: true })
      .map(String)
      .filter((path) => path.includes(id)),
  )
