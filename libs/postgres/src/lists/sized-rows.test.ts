import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, it } from 'vitest'
import type { Transaction } from '../database.ts'
import { inPieces, LargeRead, readSized, theseInOrder } from './sized-rows.ts'

const { admin, db } = await testDatabase('catalog')
// Without statistics, as after many inserts at once.
await admin.unsafe(`
  create table note (workspace_id uuid not null, id uuid not null default uuidv7(), text text not null, primary key (workspace_id, id));
  alter table note set (autovacuum_enabled = false);
  create sequence columns_read;
  grant select on note to public;
  grant usage on sequence columns_read to public`)

const caller = aCaller()
await admin`
  insert into note (workspace_id, text) select ${caller.workspaceId}, repeat('x', 100) from generate_series(1, 50)`
const ids = (await admin<{ id: string }[]>`select id from note order by id`).map(({ id }) => id)

/** Reads notes with a limit. Each computed row takes a number of the sequence. */
const read = (some: readonly string[], mostBytes?: number) =>
  db.inWorkspace({ ...caller, traceparent: '', mostBytes }, (tx: Transaction) =>
    readSized<{ id: string; number: number }>(tx, {
      columns: tx`id, nextval('columns_read') as number`,
      source: tx`from note where workspace_id = ${caller.workspaceId}`,
      bytes: tx`octet_length(text)`,
      ...theseInOrder(tx, some),
    }),
  )
async function columnsRead(work: () => Promise<unknown>): Promise<number> {
  await admin`select setval('columns_read', 1, false)`
  await work()
  const [row] = await admin<{ count: number }[]>`
    select case when is_called then last_value else 0 end::int as count from columns_read`
  return row?.count ?? Number.NaN
}

it.each([undefined, 5000])('reads each wanted row once, in their order, with the limit %s', async (mostBytes) => {
  const wanted = [ids[7], ids[3], ids[40]].map((id) => id ?? '')
  const rows = await read(wanted, mostBytes)
  expect(rows.map(({ id }) => id)).toEqual(wanted)
  expect(Object.keys(rows[0] ?? {})).toEqual(['id', 'number'])
  expect(await columnsRead(() => read(ids, mostBytes))).toBe(50)
})

it('beyond the limit it computes no row, and says what there is', async () => {
  let thrown: unknown
  const count = await columnsRead(() => read(ids, 4999).catch((error) => (thrown = error)))
  expect(count).toBe(0)
  expect(thrown).toBeInstanceOf(LargeRead)
  expect(thrown).toMatchObject({ bytes: 5000, rows: ids.map((id) => ({ id, bytes: 100 })) })
})

it('pieces have at most so many bytes, and a larger row is one by itself', () => {
  const rows = [30, 60, 10, 1, 500, 99, 2].map((bytes, index) => ({ id: String(index), bytes }))
  const pieces = inPieces(rows, 100).map((piece) => piece.map(({ bytes }) => bytes))
  expect(pieces).toEqual([[30, 60, 10], [1], [500], [99], [2]])
  expect(inPieces([], 100)).toEqual([])
})
