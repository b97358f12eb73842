import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, expect, it } from 'vitest'
import { migrationsApplied } from './migrations-applied.ts'

const { admin, db } = await testDatabase('catalog')
const migrations = fileURLToPath(new URL('../../../services/catalog/migrations', import.meta.url))
const newer = mkdtempSync(join(tmpdir(), 'backoffice-migrations-'))
afterAll(() => rmSync(newer, { recursive: true, force: true }))

const lines: unknown[] = []
const logger = { warn: (line: unknown) => void lines.push(line) }

it('starts when the schema has every migration the service comes with', async () => {
  await migrationsApplied(db, migrations, logger).start?.()
  expect(lines).toEqual([])
})

it('waits while a migration is missing, and says which', async () => {
  for (const file of readdirSync(migrations)) copyFileSync(join(migrations, file), join(newer, file))
  writeFileSync(join(newer, '9999_later.sql'), 'select 1;')
  let isStarted = false
  const started = migrationsApplied(db, newer, logger)
    .start?.()
    .then(() => (isStarted = true))
  await eventually('it says so', () => lines.length > 0)
  expect(lines).toMatchObject([{ err: { message: 'migrations are missing: 9999_later' } }])
  expect(isStarted).toBe(false)
  await admin`insert into migration (name, run_on) values ('9999_later', now())`
  whenDone(() => admin`delete from migration where name = '9999_later'`)
  await started
})

it('keeps the service from changing what is recorded as applied', async () => {
  await expect(db.sql`delete from migration`).rejects.toThrow('permission denied')
  await expect(db.sql`insert into foundation_migration (name, run_on) values ('x', now())`).rejects.toThrow(
    'permission denied',
  )
})
