import { type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { provision } from '@backoffice/postgres/provision.ts'
import { refusedConnection } from '@backoffice/postgres/refuse-wrong-database.ts'
import { type Databases, readDatabases } from './databases.ts'
import { namedServices, runJob } from './run-job.ts'

/** Creates the schemas of services and their roles with passwords and rights, each on the server of its service. */
export async function provisionServices(
  services: readonly ServiceName[],
  { adminUrlOf, passwordOf, ca }: Databases,
): Promise<void> {
  for (const [adminUrl, names] of Map.groupBy(services, adminUrlOf))
    await provision(adminUrl, { schemas: names.map(schemaOf), passwordOf, ca })
}

/** `node infra/jobs/src/provision.ts [service …]` */
async function main(): Promise<object> {
  const services = namedServices()
  await provisionServices(services, readDatabases()).catch((error) => {
    throw refusedConnection(error, 'ADMIN_DATABASE_URL') ?? error
  })
  return { services }
}

if (import.meta.main) await runJob('provision', main)
