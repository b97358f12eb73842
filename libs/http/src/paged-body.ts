import { Readable } from 'node:stream'
import { type ListQuery, listView, pageOf } from '@backoffice/contracts/pagination.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { isBehind, NEWEST_FIRST, orderBy, refuseUnknown } from '@backoffice/postgres/lists/list-page.ts'
import {
  inPieces,
  LargeRead,
  readSized,
  type SizedRow,
  theseInOrder,
  type WantedRows,
} from '@backoffice/postgres/lists/sized-rows.ts'
import { LARGE_BYTES } from './large-answers.ts'
import { Reply } from './reply.ts'
import { StreamedBody } from './streamed.ts'

type Read = (tx: Transaction, wanted: WantedRows) => Promise<readonly unknown[]>
/** Runs a transaction in the workspace of the request. */
type Run = <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>

/** A page of a list that is too large to be in memory as a whole: it is read and sent in pieces (OP-192). */
export class PagedBody {
  /** The page object with `items` of no item. */
  readonly view: object
  readonly rows: readonly SizedRow[]
  readonly #read: Read
  readonly #run: Run | undefined

  constructor(view: object, rows: readonly SizedRow[], read: Read, run?: Run) {
    this.view = { ...view, items: [] }
    this.rows = rows
    this.#read = read
    this.#run = run
  }

  /** The same page, whose pieces are read by `run`. */
  readBy(run: Run): PagedBody {
    return new PagedBody(this.view, this.rows, this.#read, run)
  }

  /** The bytes of the largest piece: each is in memory by itself. */
  get pieceBytes(): number {
    return Math.max(LARGE_BYTES, ...this.rows.map(({ bytes }) => bytes))
  }

  streamed(): StreamedBody {
    return new StreamedBody('application/json; charset=utf-8', Readable.from(this.#chunks()), {})
  }

  /** Text of the page. A piece is read when the one before is on its way. An item that is gone by then is left out. */
  async *#chunks(): AsyncGenerator<string> {
    const run = this.#run
    if (run === undefined) throw new Error('nothing reads the pieces of this page')
    // `items` is the last member, and empty.
    yield JSON.stringify(this.view).slice(0, -2)
    let comma = ''
    for (const piece of inPieces(this.rows, LARGE_BYTES)) {
      const ids = piece.map(({ id }) => id)
      for (const item of await run((tx) => this.#read(tx, theseInOrder(tx, ids)))) {
        yield comma + JSON.stringify(item)
        comma = ','
      }
    }
    yield ']}'
  }
}

/** The items of a page, and the next one for a query with `after`: by their ids, if an earlier statement read these. */
type PageItems = { readonly wanted: WantedRows } | { readonly ids: readonly string[] }

type PageSource<Item> = PageItems & {
  /** The number of items of the list. */
  readonly total: number | Promise<number>
  /** Reads items with `readSized`. Later calls have transactions of their own. */
  read(tx: Transaction, wanted: WantedRows): Promise<readonly Item[]>
}

/** 200 with a page of a list (OP-03). A large one is read and sent in pieces (OP-192). */
export async function okPage<Item>(tx: Transaction, query: ListQuery, { total, read, ...page }: PageSource<Item>) {
  const [wanted, located] = 'ids' in page ? [theseInOrder(tx, page.ids), page.ids.length] : [page.wanted]
  const [count, found] = await Promise.all([total, read(tx, wanted).catch(largeRead)])
  return okFound(query, count, found, read, located)
}

/** As `okPage`, for items that were read already, or are too many to be read at once. */
export function okFound<Item>(
  query: ListQuery,
  total: number,
  found: readonly Item[] | LargeRead,
  read: Read,
  located?: number,
): Reply {
  if (!(found instanceof LargeRead)) return new Reply(200, listView(query, total, found, located))
  const { items, ...view } = listView(query, total, found.rows, located)
  return new Reply(200, new PagedBody(view, items, read))
}

function largeRead(error: unknown): LargeRead {
  if (error instanceof LargeRead) return error
  throw error
}

interface CountedList<Row> {
  readonly columns: SqlPart
  /** From `from` up to the end of the conditions. The rows have an `id`. */
  readonly source: SqlPart
  /** An expression for the number of items, where there is one that is cheaper than counting. */
  readonly count?: SqlPart
  /** An expression for about how many bytes the answer of a row has. */
  readonly bytes: SqlPart
  bodyOf(row: Row): unknown
}

/** As `countedPage`, for a list whose pages may be large: newest first. */
export async function okCountedPage<Row extends object>(
  tx: Transaction,
  query: ListQuery,
  { columns, source, count = tx`(select count(*) ${source})`, bytes, bodyOf }: CountedList<Row>,
) {
  const page = { ...pageOf(query), ...NEWEST_FIRST }
  const behind = query.after === undefined ? tx`` : tx`and ${isBehind(tx, page, source)}`
  const order = orderBy(tx, page)
  const [reply] = await Promise.all([
    okPage(tx, query, {
      total: tx<[{ total: number }]>`select ${count} as total`.then(([{ total }]) => total),
      wanted: { ids: tx`select id ${source} ${behind} ${order} limit ${page.taken} offset ${page.offset}`, order },
      read: async (within, wanted) =>
        (await readSized<Row>(within, { columns, source, bytes, ...wanted })).map((row) => bodyOf(row)),
    }),
    refuseUnknown(tx, page, source),
  ])
  return reply
}
