import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { describe, expect, it } from 'vitest'
import { workspaceTables } from './workspace-tables.ts'

/** Tables that have nothing of a single workspace, or nothing but ids that expire. A new one needs a reason here. */
const OF_NO_WORKSPACE: Readonly<Record<string, readonly string[]>> = {
  // What checks have found, with ids and amounts, for a week.
  every: ['check_run', 'deleted_workspace', 'foundation_migration', 'migration', 'parked_key', 'replayed_dead_letter'],
  // Ids of deleted products, for some days.
  collections: ['deleted_product'],
  // Registered apps and their names belong to the platform; the sweep of apps deletes drafts.
  apps: ['app', 'app_name'],
  // Ids of deleted workspaces; operators belong to the platform.
  gateway: ['operator_token', 'workspace_deletion'],
}

describe.each(SERVICE_NAMES)('the schema of %s', async (service) => {
  const { admin, appUrl } = await testDatabase(service)

  it('has no table that the deletion of a workspace passes over', async () => {
    const known = (await workspaceTables(admin)).map(({ name }) => name)
    const tables = await admin<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = ${schemaOf(service)}::regnamespace and relkind in ('r', 'p') and not relispartition`
    const excepted = [...(OF_NO_WORKSPACE.every ?? []), ...(OF_NO_WORKSPACE[service] ?? [])]
    expect(tables.map(({ name }) => name).toSorted()).toEqual([...known, ...excepted].toSorted())
  })

  it('lets the app role delete from these tables, and find the rows of a workspace by an index', async () => {
    const { sql, stop } = openDatabase({ url: appUrl, applicationName: 'tables' })
    const tables = await workspaceTables(sql, ['audit', 'request_log'])
    for (const { name, column } of tables) {
      const [may] = await sql<[{ delete: boolean }]>`select has_table_privilege(${name}, 'delete') as delete`
      const indexes = await admin<{ first: string }[]>`
        select attname as first from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
        where indrelid = to_regclass(${name}) and indpred is null`
      expect([name, may.delete, indexes.some(({ first }) => first === column)]).toEqual([name, true, true])
    }
    await stop?.()
  })

  it('has tables in the order of their foreign keys', async () => {
    const tables = await workspaceTables(admin)
    for (const [place, { name }] of tables.entries())
      for (const later of tables.slice(place)) expect(later.refersTo, `${later.name} after ${name}`).not.toContain(name)
  })
})
