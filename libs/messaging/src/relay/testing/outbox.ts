import { randomUUID } from 'node:crypto'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { type TestDatabase, testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'

export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A database with an outbox, and ways to fill and read it. */
export interface TestOutbox extends TestDatabase {
  readonly context: { readonly workspaceId: string; readonly livemode: boolean; readonly traceparent: string }
  /** Commits one `tag.created` under this key, named so that the order can be told. */
  add(key: string, name: string): Promise<void>
  addTo(tx: Transaction, key: string, name: string): Promise<void>
  /** Waits until every row is published or refused. */
  untilEmpty(withinMs?: number): Promise<void>
}

export async function testOutbox(): Promise<TestOutbox> {
  const database = await testDatabase('catalog')
  const context = { workspaceId: randomUUID(), livemode: true, traceparent: TRACEPARENT }
  const addTo = (tx: Transaction, key: string, name: string) =>
    publish(tx, [outboxRecord('catalog.events', 'tag.created', key, { id: key, name, slug: name })], new Date())
  return {
    ...database,
    context,
    addTo,
    add: (key, name) => database.db.inWorkspace(context, (tx) => addTo(tx, key, name)),
    untilEmpty: async (withinMs) => {
      await eventually(
        'every outbox row published or refused',
        async () => {
          const waiting =
            await database.admin`select from outbox where published_at is null and refused is null limit 1`
          return waiting.length === 0
        },
        withinMs,
      )
    },
  }
}
