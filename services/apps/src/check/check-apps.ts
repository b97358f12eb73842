import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'

/** An app whose tokens carry a name that is another app's (OP-225). Its next manifest needs another audience. */
export interface SharedName {
  readonly app: string
  readonly provider: string
  readonly name: string
  readonly name_of: string
}

/** The apps that share a name since the time before names were one app's. */
export const sharedNames = (sql: Sql) => sql<SharedName[]>`
  select app.id as app, app.provider, app_name.name, app_name.app_id as name_of
  from app join app_name on app_name.name = coalesce(app.manifest ->> 'audience', app.provider)
  where app_name.app_id <> app.id
  order by app.id`

/** `npm run check-apps -w services/apps`: prints each shared name as a line of JSON and fails when there is one. */
async function checkApps(): Promise<number> {
  const server = workerServer(readConfig(z.object(WORKER_DATABASE)))
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const db = openDatabase({
    ...server,
    applicationName: 'check apps',
    poolSize: 1,
    settings: { search_path: 'apps', statement_timeout: '0' },
  })
  try {
    const found = await sharedNames(db.sql)
    for (const shared of found) console.log(JSON.stringify(shared))
    const [apps] = await db.sql<{ count: number }[]>`select count(*) from app`
    console.log(`apps checked: ${apps?.count}; names that are another app's: ${found.length}`)
    return found.length === 0 ? 0 : 1
  } finally {
    await db.stop?.()
  }
}

if (import.meta.main) await runCommand(checkApps, 1)
