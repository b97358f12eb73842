import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision, roleUrl } from '@backoffice/postgres/provision.ts'
import { emptyDatabase } from './database.ts'
import { passwordOf } from './new-database.ts'
import { whenDone } from './when-done.ts'

const SERVICES = join(import.meta.dirname, '../../../services')

/**
 * A database with the migrations of a service before one, such as `0003`, to insert rows of the version before.
 * `migrateFurther` applies the others.
 */
export async function databaseBefore(service: string, migration: string, workspaceId: string) {
  const schema = schemaOf(service)
  const all = join(SERVICES, service, 'migrations')
  const { url, drop } = await emptyDatabase()
  await provision(url, { schemas: [schema], passwordOf })
  const before = mkdtempSync(join(tmpdir(), 'migrations-'))
  cpSync(all, before, { recursive: true, filter: (path) => path === all || basename(path) < migration })
  const migrateFrom = (directory: string) => migrate({ url: migratorUrl(url, passwordOf), schema, directory })
  await migrateFrom(before)
  const settings = { search_path: schema, 'app.workspace_id': workspaceId }
  const connect = (asRole: string) =>
    openDatabase({ url: asRole, applicationName: 'version before', poolSize: 1, settings })
  const [superuser, app] = [connect(url), connect(roleUrl(url, schema, passwordOf))]
  whenDone(async () => {
    await Promise.all([superuser.stop?.(), app.stop?.()])
    await drop()
    rmSync(before, { recursive: true })
  })
  return {
    admin: superuser.sql,
    /** A replica of the version before, as the app role of the workspace. */
    replica: app.sql,
    workerUrl: roleUrl(url, `${schema}_worker`, passwordOf),
    migrateFurther: () => migrateFrom(all),
  }
}
