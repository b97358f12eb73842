import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision } from '@backoffice/postgres/provision.ts'
import { emptyDatabase, testDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { schemaBlocks, schemaDocument } from './schema-document.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What every schema has: that of a service without migrations of its own. */
let foundation: string[]
beforeAll(async () => {
  const [schema, { url, drop }] = ['catalog', await emptyDatabase()]
  await provision(url, { schemas: [schema], passwordOf })
  await migrate({ url: migratorUrl(url, passwordOf), schema, directory: mkdtempSync(join(tmpdir(), 'no-migrations-')) })
  const sql = postgres(url, { max: 1, connection: { search_path: schema } })
  foundation = await schemaBlocks(sql, schema)
  await sql.end()
  await drop()
})

const HOW = 'else run `npm run generate:schemas`'

test(`libs/postgres/schema.sql is what its migrations make: ${HOW}`, async () => {
  const document = schemaDocument('What libs/postgres/migrations give the schema of each service.', foundation)
  await expect(document).toMatchFileSnapshot(join(ROOT, 'libs/postgres/schema.sql'))
})

test.each(SERVICE_NAMES)(`services/%s/schema.sql is what its migrations make: ${HOW}`, async (service) => {
  const { admin } = await testDatabase(service)
  const blocks = await schemaBlocks(admin, schemaOf(service))
  const own = blocks.filter((block) => !foundation.includes(block))
  const document = schemaDocument('What is in libs/postgres/schema.sql is left out.', own)
  await expect(document).toMatchFileSnapshot(join(ROOT, `services/${service}/schema.sql`))
})
