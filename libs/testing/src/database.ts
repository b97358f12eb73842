import { schemaOf } from '@backoffice/contracts/services.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import postgres from 'postgres'
import { inject } from 'vitest'
import { backingServices } from './backing-services.ts'
import { newDatabase, passwordOf } from './new-database.ts'
import { startPooler } from './pooler.ts'
import { whenDone } from './when-done.ts'

/** A service's database for a test or a file: migrated, without rows, dropped when that is done. */
export type TestDatabase = Awaited<ReturnType<typeof testDatabase>>

/** Creates an empty database; its `drop` is the caller's task. */
export const emptyDatabase = () => newDatabase(backingServices().postgresUrl)

/**
 * Creates a database for the calling test or file with the named service's schema, e.g. `webhook-delivery`. With the
 * variable TEST_THROUGH_POOLER the app role's URL leads through PgBouncer, as a service's DATABASE_URL may.
 */
export async function testDatabase(service: string) {
  const schema = schemaOf(service)
  const { url, drop } = await newDatabase(backingServices().postgresUrl, inject('templates')[service])
  const statements: string[] = []
  const serverUrl = roleUrl(url, schema, passwordOf)
  const pooler = process.env.TEST_THROUGH_POOLER ? await startPooler([serverUrl]) : undefined
  const appUrl = pooler?.through(serverUrl) ?? serverUrl
  const db = openDatabase({
    url: appUrl,
    applicationName: 'test',
    // As requests have it, but with patience: how long one waits for another depends on the machine.
    beginWithinMs: 60_000,
    transactionSettings: { ...REQUEST_SETTINGS, lock_timeout: '60s' },
    onStatement: (text) => statements.push(text),
  })
  const admin = postgres(url, { max: 2, onnotice: () => undefined, connection: { search_path: schema } })
  whenDone(async () => {
    await db.stop?.()
    await admin.end()
    await drop()
  })
  return {
    /** Connects as a superuser, which sees the rows of every workspace. */
    admin,
    /** Connects as the service's app role, as requests do. */
    db,
    appUrl,
    workerUrl: roleUrl(url, `${schema}_worker`, passwordOf),
    /** Statements sent through `db` since the last `takeStatements`, transaction control included. */
    takeStatements: () => statements.splice(0),
  }
}
