import { DatabaseSync } from 'node:sqlite'
import type { Records, UsedTokens } from '@backoffice/app-sdk'

export type Database = DatabaseSync

/** The tables that hold something of a workspace. An uninstall empties them. */
const WORKSPACE_TABLES = ['credentials', 'former_credentials', 'checkout', 'charge', 'event', 'latest_order']

/** Opens the database and creates its tables. */
export function openDatabase(file: string): Database {
  const database = new DatabaseSync(file)
  database.exec(`
    pragma journal_mode = wal;
    pragma secure_delete = on;
    create table if not exists credentials (workspace_id text primary key, sealed text not null) strict;
    create table if not exists former_credentials (workspace_id text primary key, sealed text not null) strict;
    create table if not exists used_token (id text primary key, expires_at integer not null) strict;
    create table if not exists checkout (
      id text primary key,
      workspace_id text not null,
      order_id text not null,
      amount_minor integer not null,
      currency text not null,
      state text not null
    ) strict;
    create unique index if not exists one_checkout_now on checkout (workspace_id, order_id)
      where state in ('OPEN', 'CHARGING', 'CHARGED');
    -- What the payment provider would keep: each row is money taken.
    create table if not exists charge (
      checkout_id text primary key,
      workspace_id text not null,
      amount_minor integer not null
    ) strict;
    create table if not exists event (
      workspace_id text not null,
      id text not null,
      type text not null,
      data text not null,
      primary key (workspace_id, id)
    ) strict;
    -- When the newest event of each order occurred, in Unix milliseconds, and whether nothing is to be paid since.
    create table if not exists latest_order (
      workspace_id text not null,
      order_id text not null,
      occurred_at integer not null,
      has_ended integer not null,
      primary key (workspace_id, order_id)
    ) strict;
  `)
  return database
}

/** Deletes everything that the app holds for a workspace. */
export function purgeWorkspace(database: Database, workspaceId: string): void {
  for (const table of WORKSPACE_TABLES) {
    database.prepare(`delete from ${table} where workspace_id = ?`).run(workspaceId)
  }
}

/** Keeps sealed credentials in a table of the database. */
export const credentialRecords = (
  database: Database,
  table: 'credentials' | 'former_credentials' = 'credentials',
): Records => ({
  async get(id) {
    const row = database.prepare(`select sealed from ${table} where workspace_id = ?`).get(id)
    return row && String(row.sealed)
  },
  async set(id, text) {
    database
      .prepare(`insert into ${table} values (?, ?) on conflict (workspace_id) do update set sealed = excluded.sealed`)
      .run(id, text)
  },
  async delete(id) {
    database.prepare(`delete from ${table} where workspace_id = ?`).run(id)
  },
  async ids() {
    return database
      .prepare(`select workspace_id from ${table}`)
      .all()
      .map((row) => String(row.workspace_id))
  },
})

/** Remembers used tokens in the database, so that a restart forgets none. */
export const usedTokens = (database: Database): UsedTokens => ({
  async use(id, expiresAt) {
    database.prepare('delete from used_token where expires_at <= ?').run(Date.now())
    const { changes } = database
      .prepare('insert into used_token values (?, ?) on conflict (id) do nothing')
      .run(id, expiresAt.getTime())
    return changes === 1
  },
})
