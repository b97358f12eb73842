import type { SqlPart } from '../comma-separated.ts'
import type { Transaction } from '../database.ts'

/** A row that would be read, and about how many bytes its answer has. */
export interface SizedRow {
  readonly id: string
  readonly bytes: number
}

/** Thrown instead of reading more bytes than the transaction may read at once: the ids of the rows in their order. */
export class LargeRead extends Error {
  override readonly name = 'LargeRead'
  readonly rows: readonly SizedRow[]

  constructor(rows: readonly SizedRow[]) {
    super('there are more bytes than may be read at once')
    this.rows = rows
  }

  get bytes(): number {
    return bytesOf(this.rows)
  }
}

export const bytesOf = (rows: readonly SizedRow[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0)

/** Which rows are read, in which order. */
export interface WantedRows {
  /** A query for their ids. */
  readonly ids: SqlPart
  /** `order by …`, with columns of the table. */
  readonly order: SqlPart
}

/** Rows whose answers may be large, as parts of a statement. */
interface SizedRows extends WantedRows {
  readonly columns: SqlPart
  /** From `from` up to the end of the conditions, which there are. */
  readonly source: SqlPart
  /** An expression for about how many bytes the answer of a row has. */
  readonly bytes: SqlPart
}

interface SizedColumns {
  readonly sized_id: string
  readonly sized_bytes: number
  readonly item_id: string | null
}

/**
 * Reads rows by their ids. Where the transaction has a limit (`mostBytes`), the statement measures them first. Beyond
 * the limit it reads none, and a LargeRead is thrown.
 */
export async function readSized<Row extends object>(tx: Transaction, rows: SizedRows): Promise<Row[]> {
  const { columns, source, bytes, ids, order } = rows
  const { mostBytes } = tx.context
  const wanted = tx`${source} and id = any(array(${ids}))`
  if (mostBytes === undefined) return tx<Row[]>`select ${columns} ${wanted} ${order}`
  // Materialized, so that PostgreSQL computes the columns of wanted rows only: beyond the limit, of none.
  const found = await tx<(Row & SizedColumns)[]>`
    with sized as materialized (
      select id as sized_id, (${bytes})::float8 as sized_bytes, row_number() over (${order}) as sized_place ${wanted}
    ), item as materialized (
      select id as item_id, ${columns} ${source}
        and id = any(case when (select sum(sized_bytes) from sized) <= ${mostBytes} then array(select sized_id from sized) end)
    )
    select sized_id, sized_bytes, item.* from sized left join item on item_id = sized_id order by sized_place`
  const sizes = found.map((row) => ({ id: row.sized_id, bytes: row.sized_bytes }))
  if (bytesOf(sizes) > mostBytes) throw new LargeRead(sizes)
  return found.map(({ sized_id: _sized, sized_bytes: _bytes, item_id: _item, ...row }) => row as unknown as Row)
}

/**
 * Reads one value that may be large: undefined where there is no row. As `readSized`, it throws a LargeRead instead of
 * reading a value beyond the limit of the transaction.
 */
export async function readSizedValue<Value>(
  tx: Transaction,
  { value, bytes, source }: { readonly value: SqlPart; readonly bytes: SqlPart; readonly source: SqlPart },
): Promise<Value | undefined> {
  const [row] = await tx<{ value: Value; bytes: number }[]>`
    select case when ${bytes} <= ${mostBytesOf(tx)} then ${value} end as value, ${bytes} as bytes ${source}`
  if (row !== undefined) refuseLarge(tx, row.bytes)
  return row?.value
}

/** An expression for the most bytes that the transaction may read at once. */
export const mostBytesOf = (tx: Transaction): SqlPart => tx`${tx.context.mostBytes ?? Number.MAX_SAFE_INTEGER}::bigint`

/** Throws a LargeRead for more bytes than the transaction may read at once. */
export function refuseLarge({ context: { mostBytes } }: Transaction, bytes: number): void {
  if (mostBytes !== undefined && bytes > mostBytes) throw new LargeRead([{ id: '', bytes }])
}

/** The rows with these ids, in their order. */
export const theseInOrder = (tx: Transaction, ids: readonly string[]): WantedRows => ({
  ids: tx`select unnest(${ids as string[]}::uuid[])`,
  order: tx`order by array_position(${ids as string[]}::uuid[], id)`,
})

/** The rows in groups of at most so many bytes. A larger row is a group of its own. */
export function inPieces(rows: readonly SizedRow[], mostBytes: number): SizedRow[][] {
  const pieces: SizedRow[][] = []
  let left = 0
  for (const row of rows) {
    if (pieces.length === 0 || row.bytes > left) {
      pieces.push([])
      left = mostBytes
    }
    pieces.at(-1)?.push(row)
    left -= row.bytes
  }
  return pieces
}
