import { openDatabase } from '@backoffice/postgres/database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'
import { memberDifferences } from './member-differences.ts'

/**
 * `npm run check-members -w services/collections`, with `WORKER_DATABASE_URL` of the worker role or a superuser: prints each
 * membership that is not as it would be if it were evaluated now, as a line of JSON, and fails when there is one.
 */
const { WORKER_DATABASE_URL } = readConfig(z.object({ WORKER_DATABASE_URL: z.url() }))
const settings = { search_path: 'collections', statement_timeout: '0', plan_cache_mode: 'force_custom_plan' }
const db = openDatabase({ url: WORKER_DATABASE_URL, applicationName: 'check members', poolSize: 1, settings })

const checked = await db.sql.begin('isolation level repeatable read read only', async (tx) => {
  let differences = 0
  for await (const difference of memberDifferences(tx)) {
    differences++
    console.log(JSON.stringify(difference))
  }
  // Told, since a role that sees no workspace finds no difference either.
  const [{ generations, members }] = await tx<[{ generations: number; members: number }]>`
    select (select count(*) from generation where state = 'CURRENT') as generations, (select count(*) from member) as members`
  return { generations, members, differences }
})
await db.stop?.()
console.log(
  `memberships checked: ${checked.generations}; members: ${checked.members}; differences: ${checked.differences}`,
)
process.exitCode = checked.differences === 0 ? 0 : 1
