import { fileURLToPath } from 'node:url'
import { type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { MIGRATOR, migratorUrl } from '@backoffice/postgres/provision.ts'
import { refusedConnection } from '@backoffice/postgres/refuse-wrong-database.ts'
import { passwordSetting } from './config.ts'
import { type Databases, readDatabases } from './databases.ts'
import { namedServices, runJob } from './run-job.ts'

/** Brings schemas of services up to date, one after the other. Their roles are there: see `provisionServices`. */
export async function migrateServices(
  services: readonly ServiceName[],
  { adminUrlOf, passwordOf, ca }: Databases,
): Promise<void> {
  for (const name of services) {
    const directory = fileURLToPath(new URL(`../../../services/${name}/migrations`, import.meta.url))
    await migrate({ url: migratorUrl(adminUrlOf(name), passwordOf), ca, schema: schemaOf(name), directory })
  }
}

/** `node infra/jobs/src/migrate.ts [service …]` */
async function main(): Promise<object> {
  const services = namedServices()
  await migrateServices(services, readDatabases()).catch((error) => {
    throw refusedConnection(error, passwordSetting(MIGRATOR)) ?? error
  })
  return { services }
}

if (import.meta.main) await runJob('migrate', main)
