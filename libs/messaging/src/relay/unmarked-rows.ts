import type { LockSession } from '@backoffice/postgres/lock-session.ts'
import { markPublished, type OutboxRow } from './outbox-rows.ts'

/**
 * Rows that Kafka has acknowledged and PostgreSQL has not marked, such as while it is read-only. They look as if they
 * waited, so nothing is published until they are marked: they are those of one request at most. The process remembers
 * them when it leads again. Another one that leads meanwhile sends them once more.
 */
export class UnmarkedRows {
  #rows: readonly Pick<OutboxRow, 'id' | 'event_id'>[] = []

  get size(): number {
    return this.#rows.length
  }

  add(rows: readonly OutboxRow[]): void {
    this.#rows = [...this.#rows, ...rows.map(({ id, event_id }) => ({ id, event_id }))]
  }

  /** Marks them as published. Throws the error of PostgreSQL, and then they stay. */
  async mark(session: LockSession): Promise<void> {
    if (this.#rows.length === 0) return
    await session.answered(markPublished(session.sql, this.#rows))
    this.#rows = []
  }
}
