import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision, roleUrl } from '@backoffice/postgres/provision.ts'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url))
const WORKSPACE = '00000000-0000-7000-8000-000000000001'
const COLLECTION = '00000000-0000-7000-8000-000000000002'
const PRODUCT = '00000000-0000-7000-8000-000000000003'

let admin: Sql
/** A replica of the version before, as the app role of the workspace. */
let replica: Sql

const insertGeneration = (sql: Sql, source: string, state: string) => sql`
  insert into generation (workspace_id, collection_id, source, rules, sort_order, state, built_to)
  values (${WORKSPACE}, ${COLLECTION}, ${source}, ${source === 'RULES' ? '{}' : null}::text::json, 'MANUAL', ${state}, null)`

/** Inserts rows into the schema of the version before and migrates it. */
beforeEach(async () => {
  const { url, drop } = await emptyDatabase()
  await provision(url, { schemas: ['collections'], passwordOf })
  const before = mkdtempSync(join(tmpdir(), 'migrations-'))
  cpSync(MIGRATIONS, before, { recursive: true, filter: (path) => !/(000[4-9]|00[1-9]\d)_/.test(path) })
  await migrate({ url: migratorUrl(url, passwordOf), schema: 'collections', directory: before })
  const settings = { search_path: 'collections', 'app.workspace_id': WORKSPACE }
  const connect = (asRole: string) =>
    openDatabase({ url: asRole, applicationName: 'former names', poolSize: 1, settings })
  const [superuser, app] = [connect(url), connect(roleUrl(url, 'collections', passwordOf))]
  admin = superuser.sql
  replica = app.sql
  whenDone(async () => {
    await Promise.all([superuser.stop?.(), app.stop?.()])
    await drop()
    rmSync(before, { recursive: true })
  })
  await insertGeneration(admin, 'PICKED', 'KEPT')
  await insertGeneration(admin, 'RULES', 'CURRENT')
  await insertGeneration(admin, 'RULES', 'OLD')
  await migrate({ url: migratorUrl(url, passwordOf), schema: 'collections', directory: MIGRATIONS })
})

const versions = () => admin`select source, state, processed_to from membership_version order by number`

it('the migration translates the sources and states of the rows', async () => {
  expect((await versions()).map(({ source, state }) => [source, state])).toEqual([
    ['HAND_PICKED', 'SAVED'],
    ['RULES', 'CURRENT'],
    ['RULES', 'RETIRED'],
  ])
})

it('a replica of the version before reads and writes generations with their former words', async () => {
  expect((await replica`select source, state from generation order by number`).map(Object.values)).toEqual([
    ['PICKED', 'KEPT'],
    ['RULES', 'CURRENT'],
    ['RULES', 'OLD'],
  ])
  await replica`update generation set state = 'OLD', built_to = ${PRODUCT} where state = 'KEPT'`
  await replica`delete from generation where state = 'CURRENT'`
  await insertGeneration(replica, 'PICKED', 'KEPT')
  expect((await versions()).map(Object.values)).toEqual([
    ['HAND_PICKED', 'RETIRED', PRODUCT],
    ['RULES', 'RETIRED', null],
    ['HAND_PICKED', 'SAVED', null],
  ])
})

it('a replica of the version before reads, writes and counts members with their former names', async () => {
  await replica`
    insert into member (workspace_id, generation, product_id, position, sort_key, is_available)
    select workspace_id, number, ${PRODUCT}, 1, 'a', true from generation where state = 'CURRENT' on conflict do nothing`
  expect(await admin`select tie_breaker, sort_key from collection_member`).toEqual([{ tie_breaker: 0, sort_key: 'a' }])
  expect(await replica`select available from member_count`).toEqual([{ available: 1 }])
})

it('the former names show no other workspace', async () => {
  await replica`select set_config('app.workspace_id', ${COLLECTION}, false)`
  expect(await replica`select from generation`).toHaveLength(0)
  await expect(insertGeneration(replica, 'PICKED', 'BUILDING')).rejects.toMatchObject({ code: '42501' })
})
