import type { Sql } from '@backoffice/postgres/database.ts'
import type { Check } from '@backoffice/service/checks/check.ts'

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

/** Reports each shared name. */
export const checkApps: Check = {
  async run({ sql, report }) {
    for (const shared of await sharedNames(sql)) report(shared)
    const [checked] = await sql<[{ apps: number }]>`select count(*)::integer as apps from app`
    return { apps: checked.apps }
  },
}
