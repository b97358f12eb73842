import { registerSchemas } from '@backoffice/messaging/registry/register-schemas.ts'
import { registryServer } from '@backoffice/messaging/registry/registry-settings.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { SchemasConfig } from './config.ts'
import { runJob } from './run-job.ts'

/** `node infra/jobs/src/schemas.ts`: registers the schema of every record type. */
async function main(): Promise<object> {
  await registerSchemas(registryServer(readConfig(SchemasConfig)))
  return {}
}

await runJob('schemas', main)
