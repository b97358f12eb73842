import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const CACHE_KIB = 8 * 1024

/** The keys of a file's rows, and texts by other keys, on the disk: their memory does not grow with the file. */
export class UniqueKeys {
  readonly #database: DatabaseSync
  readonly #insert
  readonly #select
  readonly #keep
  readonly #kept

  /** Opens an empty set of keys in this folder. The file is of no use after a crash, so nothing is synced. */
  constructor(folder: string) {
    this.#database = new DatabaseSync(join(folder, 'keys'))
    this.#database.exec(`
      pragma journal_mode = off;
      pragma synchronous = off;
      pragma locking_mode = exclusive;
      pragma cache_size = -${CACHE_KIB};
      create table seen (key text primary key, row integer not null) without rowid;
      create table text (key text primary key, text text not null) without rowid;
      begin`)
    this.#insert = this.#database.prepare('insert into seen (key, row) values (?, ?) on conflict do nothing')
    this.#select = this.#database.prepare('select row from seen where key = ?')
    this.#keep = this.#database.prepare('insert or replace into text (key, text) values (?, ?)')
    this.#kept = this.#database.prepare('select text from text where key = ?')
  }

  /** Remembers a key with its row. Returns the earlier row that has it, if there is one, and changes nothing then. */
  add(key: string, row: number): number | undefined {
    return this.#insert.run(key, row).changes === 1 ? undefined : this.find(key)
  }

  /** The row that has a key. */
  find(key: string): number | undefined {
    return this.#select.get(key)?.row as number | undefined
  }

  /** Keeps a text, instead of an earlier one with the same key. */
  keep(key: string, text: string): void {
    this.#keep.run(key, text)
  }

  kept(key: string): string | undefined {
    return this.#kept.get(key)?.text as string | undefined
  }

  close(): void {
    this.#database.close()
  }
}
