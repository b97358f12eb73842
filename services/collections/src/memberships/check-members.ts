import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'
import { membershipDifferences } from './membership-differences.ts'

/**
 * `npm run check-members -w services/collections`, with `WORKER_DATABASE_URL` of the worker role or a superuser: prints each
 * difference between the stored memberships and the evaluated ones as a line of JSON. Counts the changes of products that are
 * queued: the memberships follow them later. Exits 1 if there is a difference.
 */
const { WORKER_DATABASE_URL } = readConfig(z.object({ WORKER_DATABASE_URL: z.url() }))
const settings = { search_path: 'collections', statement_timeout: '0', ...PLAN_EACH_TIME }
const db = openDatabase({ url: WORKER_DATABASE_URL, applicationName: 'check members', poolSize: 1, settings })

const checked = await db.sql.begin('isolation level repeatable read read only', async (tx) => {
  let differences = 0
  for await (const difference of membershipDifferences(tx)) {
    differences++
    console.log(JSON.stringify(difference))
  }
  // Without them, a role that sees no rows at all would look like a success.
  const [counts] = await tx<[{ versions: number; members: number; queued: number }]>`
    select (select count(*) from membership_version where state = 'CURRENT') as versions,
      (select count(*) from collection_member) as members, (select count(*) from queued_product) as queued`
  return { ...counts, differences }
})
await db.stop?.()
const { versions, members, differences, queued } = checked
const waiting = queued > 0 ? `; products queued: ${queued}` : ''
console.log(`memberships checked: ${versions}; members: ${members}; differences: ${differences}${waiting}`)
process.exitCode = differences === 0 ? 0 : 1
