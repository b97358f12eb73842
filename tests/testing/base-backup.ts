import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type postgres from 'postgres'

/** A base backup of the running server, in the steps of pg_basebackup, which the packages here lack. */
export async function takeBaseBackup(sql: postgres.Sql, data: string, backup: string): Promise<void> {
  await sql`select pg_backup_start('base', true)`
  cpSync(data, backup, {
    recursive: true,
    preserveTimestamps: true,
    filter: (source) => !/\/(pg_wal\/.+|postmaster\.(pid|opts)|.*pg_internal\.init.*)$/.test(source),
  })
  const [stopped] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop()`
  writeFileSync(join(backup, 'backup_label'), stopped?.labelfile ?? '')
}
