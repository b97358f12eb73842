import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterAll, expect, it } from 'vitest'
import { migrationsApplied } from './migrations-applied.ts'

const { db } = await testDatabase('catalog')
const migrations = fileURLToPath(new URL('../../../services/catalog/migrations', import.meta.url))
const newer = mkdtempSync(join(tmpdir(), 'backoffice-migrations-'))
afterAll(() => rmSync(newer, { recursive: true, force: true }))

it('is ready when the schema has every migration the service comes with', async () => {
  expect(await migrationsApplied(db, migrations).isReady?.()).toBe(true)
})

it('is not ready while a migration is missing', async () => {
  for (const file of readdirSync(migrations)) copyFileSync(join(migrations, file), join(newer, file))
  writeFileSync(join(newer, '9999_later.sql'), 'select 1;')
  expect(await migrationsApplied(db, newer).isReady?.()).toBe(false)
})

it('keeps the service from changing what is recorded as applied', async () => {
  await expect(db.sql`delete from migration`).rejects.toThrow('permission denied')
  await expect(db.sql`insert into foundation_migration (name, run_on) values ('x', now())`).rejects.toThrow(
    'permission denied',
  )
})
