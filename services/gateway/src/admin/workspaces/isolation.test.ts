import { randomUUID } from 'node:crypto'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'

const TABLES = ['workspace', 'settings', 'api_key', 'audit', 'page_link', 'page_session', 'support_session'] as const

const gateway = await testGateway()
const [mine, theirs] = [await gateway.aKey(), await gateway.aKey()]
for (const { workspaceId } of [mine, theirs]) {
  await gateway.admin('PUT', `/workspaces/${workspaceId}/settings`, {})
  await gateway.admin('POST', `/workspaces/${workspaceId}/support-sessions`, {})
  const ids = { workspace_id: workspaceId, id: randomUUID(), installation_id: randomUUID() }
  const { admin } = gateway.database
  await admin`insert into page_link ${admin({ ...ids, provider: 'pay', page: 'embed', expires_at: new Date() })}`
  await admin`insert into page_session ${admin({ ...ids, page: 'embed', expires_at: new Date() })}`
}

const inMine = <Result>(work: (tx: Transaction) => Promise<Result>) =>
  gateway.database.db.inWorkspace({ workspaceId: mine.workspaceId, livemode: true, traceparent: '' }, work)

test.each(TABLES)('the app role sees its workspace only: %s', async (table) => {
  const owner = table === 'workspace' ? 'id' : 'workspace_id'
  const rows = await inMine((tx) => tx`select distinct ${tx(owner)} as owner from ${tx(table)}`)
  expect(rows).toEqual([{ owner: mine.workspaceId }])
})

test.each(TABLES)('the app role sees nothing outside a workspace: %s', async (table) => {
  const { sql } = gateway.database.db
  expect(await sql`select from ${sql(table)}`).toEqual([])
})

test('the app role can give nothing to another workspace', async () => {
  const write = inMine(
    (tx) => tx`
      insert into audit (workspace_id, at, actor, action, target, request_id)
      values (${theirs.workspaceId}, now(), 'a', 'b', 'c', 'd')`,
  )
  await expect(write).rejects.toThrow(/row-level security/)
  expect((await inMine((tx) => tx`update api_key set name = 'x' where id = ${theirs.id}`)).count).toBe(0)
})

test.each(TABLES)('the worker role deletes nothing, and writes nothing but acts: %s', async (table) => {
  const { sql } = gateway.worker
  await expect(sql`delete from ${sql(table)}`).rejects.toThrow(/permission denied/)
  if (table === 'audit') return
  await expect(sql`insert into ${sql(table)} default values`).rejects.toThrow(/permission denied/)
})

test('the worker role changes nothing of a key but the time of its last use', async () => {
  const { sql } = gateway.worker
  await expect(sql`update api_key set revoked_at = null`).rejects.toThrow(/permission denied/)
  expect((await sql`update api_key set last_used_at = now() where id = ${mine.id}`).count).toBe(1)
})

test('the app role sees and writes no act without a workspace, neither inside one nor outside', async () => {
  await gateway.admin('POST', '/operators', { name: 'Isolated' })
  const platformWide = (sql: AnySql) => sql`select from audit where workspace_id is null`
  expect(await platformWide(gateway.worker.sql)).toHaveLength(1)
  const { sql } = gateway.database.db
  expect([...(await inMine(platformWide)), ...(await platformWide(sql))]).toEqual([])
  const write = (sql: AnySql) => sql`
    insert into audit (at, actor, action, target, request_id) values (now(), 'a', 'b', 'c', 'd')`
  await expect(inMine(write)).rejects.toThrow(/row-level security/)
  await expect(write(sql)).rejects.toThrow(/row-level security/)
})

test('the app role cannot read operator tokens', async () => {
  const { sql } = gateway.database.db
  await expect(sql`select from operator_token`).rejects.toThrow(/permission denied/)
})

test('the audit log cannot be changed or shortened', async () => {
  for (const run of [inMine, (work: (sql: AnySql) => Promise<unknown>) => work(gateway.worker.sql)]) {
    await expect(run((sql) => sql`update audit set actor = 'x'`)).rejects.toThrow(/permission denied/)
    await expect(run((sql) => sql`delete from audit`)).rejects.toThrow(/permission denied/)
  }
})

test('every table of the gateway has forced row level security', async () => {
  const open = await gateway.database.admin`
    select relname from pg_class
    where relnamespace = 'gateway'::regnamespace and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)
      and relname not in ('migration', 'foundation_migration')`
  expect(open).toEqual([])
})
