import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { type PlanPart, planOf, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'
import { listMembers } from './list-members.ts'

const SIZE = 20_000
const { admin, appUrl, create } = await collectionsService()
const caller = aCaller()
const collection = await create(caller, { sort_order: 'TITLE_ASC' })
await admin`
  insert into product
  select ${caller.workspaceId}, uuidv7(), 1, 'name ' || lpad(n::text, 6, '0'), '', 'SIMPLE_PRODUCT', 'ACTIVE', '{}', '{}', '{}', '{}', n,
    true, false, now(), '{}'
  from generate_series(1, ${SIZE}::integer) as n`
await admin`
  insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
  select workspace_id, (select number from membership_version where collection_id = ${collection.id}), id, stock, name, true from product`
await admin`vacuum analyze`

const sent: SentStatement[] = []
const db = openDatabase({
  url: appUrl,
  applicationName: 'test',
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
whenDone(async () => db.stop?.())
const send = serviceClient(db, [listMembers])

/** The plan of the list's statement, run as the app role under row level security. */
async function planOfList(query: string): Promise<readonly PlanPart[]> {
  sent.length = 0
  // The bodies are not valid products, so the client's check of the answer fails.
  await send(caller, 'GET', `/v1/collections/${collection.id}/products?limit=20&${query}`)
  const statement = sent.find(({ text }) => text.includes('shown')) ?? expect.fail('nothing was read')
  return db.inWorkspace({ ...caller, traceparent: '' }, (tx) => planOf(tx, statement, 'analyze'))
}

const mostRows = (plan: readonly PlanPart[]) => Math.max(...plan.map((node) => node['Actual Rows'] ?? 0))

it('the first page, and any that follows a product, reads no more members than it shows', async () => {
  const [row] = await admin`select product_id from collection_member where position = ${SIZE - 100}`
  for (const query of ['', `after=${row?.product_id}`]) {
    const plan = await planOfList(query)
    expect(plan.flatMap((node) => node['Index Name'] ?? [])).toContain('collection_member_order')
    expect(mostRows(plan)).toBeLessThanOrEqual(21)
  }
})

it('a page deep down passes over members in the index alone, without sorting them', async () => {
  const plan = await planOfList('page=800')
  const members = plan.find((node) => node['Index Name'] === 'collection_member_order')
  expect(members?.['Node Type']).toBe('Index Only Scan')
  expect(
    plan.filter((node) => node['Node Type'].includes('Sort')).every((node) => (node['Actual Rows'] ?? 0) <= 20),
  ).toBe(true)
})
