import { readFile } from 'node:fs/promises'
import type { MigrationBuilder } from 'node-pg-migrate'

/** The line of a file that runs without a transaction. */
const WITHOUT_TRANSACTION = /^-- without a transaction$/m

/**
 * Whether the statements of a migration run one by one, each on its own, as `create index concurrently` must. After a
 * crash all of them run again.
 */
export const isWithoutTransaction = (migration: string): boolean => WITHOUT_TRANSACTION.test(migration)

/** The migrations in `files`, in the form of node-pg-migrate: SQL, forward only. */
export const loadMigrations = (files: readonly string[]) =>
  Promise.all(
    files.map(async (file) => {
      const text = await readFile(file, 'utf8')
      const up = (builder: MigrationBuilder) => addStatements(builder, text)
      return { id: file, filePaths: [file], actions: { up, down: false as const } }
    }),
  )

function addStatements(builder: MigrationBuilder, text: string): void {
  if (!isWithoutTransaction(text)) {
    builder.sql(text)
    return
  }
  builder.noTransaction()
  // Such a statement waits for the end of older transactions, and blocks no request while it waits.
  builder.sql('set lock_timeout = 0')
  for (const statement of text.replaceAll(/--[^\n]*/g, '').split(';')) {
    if (statement.trim() !== '') builder.sql(statement)
  }
  builder.sql('reset lock_timeout')
}
