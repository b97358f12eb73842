import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The keys of a file's rows, kept on the disk: their memory does not grow with the file. */
export interface UniqueKeys {
  /** Remembers a key with its row. Returns the earlier row that has it, if there is one, and changes nothing then. */
  add(key: string, row: number): number | undefined
  /** The row that has a key. */
  find(key: string): number | undefined
  close(): void
}

const CACHE_KIB = 8 * 1024

/** Opens an empty set of keys in this folder. The file is of no use after a crash, so nothing is synced. */
export function uniqueKeys(folder: string): UniqueKeys {
  const database = new DatabaseSync(join(folder, 'keys'))
  database.exec(`
    pragma journal_mode = off;
    pragma synchronous = off;
    pragma locking_mode = exclusive;
    pragma cache_size = -${CACHE_KIB};
    create table seen (key text primary key, row integer not null) without rowid;
    begin`)
  const insert = database.prepare('insert into seen (key, row) values (?, ?) on conflict do nothing')
  const select = database.prepare('select row from seen where key = ?')
  const find = (key: string) => select.get(key)?.row as number | undefined
  return {
    add: (key, row) => (insert.run(key, row).changes === 1 ? undefined : find(key)),
    find,
    close: () => database.close(),
  }
}
