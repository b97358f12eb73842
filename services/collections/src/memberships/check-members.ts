import { type AnySql, openDatabase } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { membershipDifferences } from './membership-differences.ts'

/**
 * `npm run check-members -w services/collections`, with `WORKER_DATABASE_URL` of the worker role or a superuser: prints
 * the differences between stored and evaluated memberships as lines of JSON. Exits 1 if there is one.
 */
async function checkMembers(): Promise<number> {
  const server = workerServer(readConfig(z.object(WORKER_DATABASE)))
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const settings = { search_path: 'collections', statement_timeout: '0', ...PLAN_EACH_TIME }
  const db = openDatabase({ ...server, applicationName: 'check members', poolSize: 1, settings })

  const check = async (tx: AnySql) => {
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
  }
  const checked = await db.sql.begin('isolation level repeatable read read only', check).finally(() => db.stop?.())
  const { versions, members, differences, queued } = checked
  const waiting = queued > 0 ? `; products queued: ${queued}` : ''
  console.log(`memberships checked: ${versions}; members: ${members}; differences: ${differences}${waiting}`)
  return differences === 0 ? 0 : 1
}

await runCommand(checkMembers, 1)
