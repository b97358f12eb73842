import { randomUUID } from 'node:crypto'
import { testDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import type { Sql } from './database.ts'
import { refusalOfRole } from './database-probe.ts'
import { migratorUrl, roleUrl } from './provision.ts'

const { admin, appUrl, workerUrl } = await testDatabase('catalog')

const refusalAt = async (url: string) => {
  const sql = postgres(url, { max: 1, connection: { search_path: 'catalog' } })
  return refusalOfRole(sql as Sql).finally(() => sql.end())
}
/** A role that a deployment might connect with. */
async function aRole(attributes: string, memberOf?: string): Promise<string> {
  const role = `test_${randomUUID().slice(0, 8)}`
  await admin.unsafe(`create role ${role} login ${attributes} password '${passwordOf(role)}'`)
  whenDone(() => admin.unsafe(`drop role ${role}`))
  if (memberOf) await admin.unsafe(`grant ${memberOf} to ${role}`)
  return roleUrl(appUrl, role, passwordOf)
}

it.each<[string, () => string | Promise<string>, string]>([
  ['a superuser', () => aRole('superuser'), 'a superuser'],
  ['a role with BYPASSRLS', () => aRole('bypassrls'), 'which bypasses row level security (BYPASSRLS)'],
  ['the owner of the tables', () => migratorUrl(appUrl, passwordOf), 'which owns the tables'],
  ['a member of the owner', () => aRole('', 'backoffice_migrator'), 'may act as their owner'],
])('%s is refused', async (_what, url, reason) => {
  const refusal = await refusalAt(await url())
  expect(refusal).toContain(reason)
  expect(refusal).toMatch(/^connects as \w+, .*; use the service's own role/)
})

it('the roles of a service are not', async () => {
  expect([await refusalAt(appUrl), await refusalAt(workerUrl)]).toEqual([undefined, undefined])
})
