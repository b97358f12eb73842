import { checkRuns } from '@backoffice/service/testing/check-runs.ts'
import { databaseBefore } from '@backoffice/testing/database-before.ts'
import { expect, test } from 'vitest'
import { checkApps, sharedNames } from './check-apps.ts'

const PLATFORM = '00000000-0000-0000-0000-000000000000'
const [OLD, NEW, IMITATED, IMITATING] = [1, 2, 3, 4].map((n) => `00000000-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
]

test('apps that share a name are named after the migration, which gives it to its provider, else to the oldest', async () => {
  const { admin, replica, migrateFurther, ...database } = await databaseBefore('apps', '0003', PLATFORM)
  const insert = (id: string, provider: string, audience: string | undefined, minute: number) => replica`
    insert into app (id, provider, origin, manifest, created_at, updated_at)
    values (
      ${id}, ${provider}, 'https://app.example', ${replica.json({ provider, ...(audience && { audience }) })},
      ${new Date(minute * 60_000)}, now()
    )`
  await insert(NEW, 'new', 'shared', 2)
  await insert(OLD, 'old', 'shared', 1)
  await insert(IMITATING, 'imitating', 'imitated', 3)
  await insert(IMITATED, 'imitated', undefined, 4)
  await migrateFurther()
  expect(await admin`select name, app_id from app_name order by name`).toEqual([
    { name: 'imitated', app_id: IMITATED },
    { name: 'imitating', app_id: IMITATING },
    { name: 'new', app_id: NEW },
    { name: 'old', app_id: OLD },
    { name: 'shared', app_id: OLD },
  ])
  const shared = [
    { app: NEW, provider: 'new', name: 'shared', name_of: OLD },
    { app: IMITATING, provider: 'imitating', name: 'imitated', name_of: IMITATED },
  ]
  expect(await sharedNames(admin)).toEqual(shared)
  const { run } = await checkRuns('apps', { 'check-apps': checkApps }, database)
  expect(await run('check-apps')).toMatchObject({ found: 2, findings: shared })

  // A replica of the version before shares no name either.
  await expect(insert('00000000-0000-7000-8000-000000000005', 'fifth', 'shared', 5)).rejects.toThrow('app_name_pkey')
  for (const [id, provider] of [
    [NEW, 'new'],
    [IMITATING, 'imitating'],
  ] as const) {
    await replica`update app set manifest = ${replica.json({ provider })} where id = ${id}`
  }
  expect(await run('check-apps')).toMatchObject({ state: 'SUCCEEDED', checked: { apps: 4 }, found: 0 })
})
