import { type ApiError, badRequest, conflict } from '@backoffice/contracts/errors.ts'
import { type ImportColumn, importTemplate } from '@backoffice/contracts/import-templates.ts'
import { reportedText } from '@backoffice/contracts/imports.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { CsvRow } from '../files/read-csv.ts'
import { readCell } from '../rows/cells.ts'
import { columnOf, ERROR_COLUMN, type Header } from '../rows/header.ts'
import type { RowReader } from '../rows/row-reader.ts'
import type { UniqueKeys } from '../rows/unique-keys.ts'
import { SHOPIFY } from './shopify.ts'
import type { CellOf, Source } from './source.ts'
import { WOOCOMMERCE } from './woocommerce.ts'

const SOURCES = [SHOPIFY, WOOCOMMERCE]

/** Whether a cell of a header may be a column of another platform. */
export const isOfSource = (cell: string): boolean =>
  SOURCES.some(({ marks, aliases }) => marks.includes(cell) || Object.hasOwn(aliases, cell))

/** A file of another platform, whose columns have these places. */
export interface OpenedSource {
  readonly source: Source
  readonly places: ReadonlyMap<string, number>
  /** The number of columns. */
  readonly length: number
}

/** Finds the platform that a header is of; undefined for a file of our own. */
export function findSource(header: readonly string[]): OpenedSource | undefined {
  for (const source of SOURCES) {
    const places = new Map<string, number>()
    for (const [index, title] of header.entries()) {
      const name = columnOf(title)
      const column = source.aliases[name] ?? name
      if (!places.has(column)) places.set(column, index)
    }
    if (source.marks.every((mark) => places.has(mark))) return { source, places, length: header.length }
  }
  return undefined
}

/**
 * Whether a row with more cells than the header may have a separator within a text: then its cells are not under their
 * columns, although those that are too many are empty. In prose a separator has a space behind it.
 */
export function isShifted({ source, places }: OpenedSource, cells: readonly string[], readRow: RowReader): boolean {
  if (cells.some((cell) => cell.startsWith(' '))) return true
  if (!source.roleOf(cellsOf(cells, places)).isProduct) return false
  try {
    readRow(cells)
    return false
  } catch {
    return true
  }
}

/** The header of a file of another platform, as one of the template `products`. */
export function readSourceHeader(
  { source, places }: OpenedSource,
  cells: readonly string[],
  currency: string | null,
): Header {
  const titles = cells.map((cell) => reportedText(cell.trim()))
  const own = importTemplate('products').columns.flatMap((column) => {
    const { from, read } = source.columns[column.name as keyof typeof source.columns] ?? { from: [] }
    const place = from.flatMap((name) => places.get(name) ?? [])[0]
    return place === undefined ? [] : [{ column, place, read: read ?? ((text: string) => ownValue(text, column)) }]
  })
  const columns: (ImportColumn | undefined)[] = titles.map(() => undefined)
  for (const { column, place } of own) columns[place] ??= column
  const price = titles[places.get(source.marks.at(-1) ?? '') ?? 0] ?? ''
  return {
    columns,
    titles,
    places: new Map(own.map(({ column, place }) => [column.name, place])),
    isCorrected: titles.some((title) => columnOf(title) === ERROR_COLUMN),
    errors:
      currency === null ? [{ column: price, code: 'bad_request', message: withoutCurrency(source), value: null }] : [],
    source: source.name,
    valuesOf(cells) {
      const cell = cellsOf(cells, places)
      const row = { cell, currency: currency ?? '' }
      const values = own.map(({ column, place, read }) => [column.name, read(cells[place]?.trim() ?? '', row)])
      return Object.fromEntries(values.filter(([, value]) => value !== undefined))
    },
  }
}

const withoutCurrency = ({ title }: Source) =>
  `a product export of ${title} has prices without a currency: upload the file again with the member currency before it, such as currency=USD`

const ownValue = (text: string, column: ImportColumn) => (text === '' ? undefined : readCell(text, column))

const cellsOf =
  (cells: readonly string[], places: OpenedSource['places']): CellOf =>
  (column, absent = '') => {
    const place = places.get(column)
    return place === undefined ? absent : (cells[place]?.trim() ?? '')
  }

/**
 * The rows of products and variants: each variant has what the row that leads it says of the product. Long texts go to
 * the first variant only, so that a file does not grow by them. What the leading rows say is kept on the disk.
 */
export async function* productRows(
  rows: AsyncIterable<CsvRow>,
  { source, places, length }: OpenedSource,
  keys: UniqueKeys,
): AsyncGenerator<CsvRow> {
  const shared = Object.values(source.columns).flatMap(({ from, isOfProduct, isAdded }) =>
    isOfProduct ? from.flatMap((name) => places.get(name) ?? []).map((place) => ({ place, isAdded })) : [],
  )
  // The rows of a corrected file have what those that lead them say.
  const isCorrected = places.has(ERROR_COLUMN)
  /** The first name in the file that makes the same slug. */
  const firstCalled = (called: string | undefined) => {
    if (called === undefined) return undefined
    const key = `slug ${source.slugOf(called)}`
    const first = keys.kept(key)
    if (first === undefined) keys.keep(key, called)
    return first ?? called
  }
  for await (const row of gatherImages(rows, source, places)) {
    const { leads, follows, isProduct, alone } = source.roleOf(cellsOf(row.cells, places))
    const called = leads ?? follows
    // What a row that is refused is called may be wrong, so it takes no slug from others.
    const first = row.refusal === undefined ? firstCalled(called) : called
    if (leads !== undefined && first === leads) {
      const own = shared.map(({ place }) => row.cells[place] ?? '')
      const lead: Lead = row.refusal !== undefined ? row.row : isProduct ? own.map(whenShort) : own
      keys.keep(leadOf(leads), JSON.stringify(lead))
    }
    if (!isProduct) {
      const saysMore = row.cells.filter((cell) => cell.trim() !== '').length > 1
      if (row.refusal !== undefined && (called === undefined || saysMore)) yield row
      continue
    }
    const kept = follows === undefined ? undefined : keys.kept(leadOf(follows))
    if (row.refusal !== undefined && row.cells.length !== length) yield row
    else if (first !== called)
      yield refused(row, conflict(['slug'], `makes the same slug as "${first}": rename one of them`))
    else if (follows === undefined || (kept === undefined && (alone === undefined || isCorrected))) yield row
    else if (kept === undefined) yield refused(row, badRequest(['slug'], alone ?? ''))
    else {
      const lead: Lead = JSON.parse(kept)
      if (typeof lead === 'number') {
        yield refused(
          row,
          badRequest([], `has what it says of the product from row ${lead}, which is refused: mend that row`),
        )
        continue
      }
      const short = JSON.stringify(lead.map(whenShort))
      if (short !== kept) keys.keep(leadOf(follows), short)
      const cells = [...row.cells]
      for (const [index, { place, isAdded }] of shared.entries()) {
        const [ofProduct, own] = [lead[index] ?? '', cells[place] ?? '']
        // A refused row comes back in the corrected file with the text that it has.
        if (row.refusal !== undefined && own !== '') continue
        cells[place] = [ofProduct, isAdded ? own : ''].filter((value) => value !== '').join('\n')
      }
      yield { ...row, cells }
    }
  }
}

/** What a row says of its product; of one that is refused, its number. */
type Lead = readonly string[] | number

const refused = (row: CsvRow, refusal: ApiError): CsvRow => ({ ...row, refusal: row.refusal ?? refusal })

const leadOf = (called: string) => `lead ${called}`

const whenShort = (text: string) => (text.length > LIMITS.nameLength ? '' : text)

/** Bytes of refused rows that wait behind a good one: images below more of them have no rows directly above. */
const MAX_BEHIND = 1024 * 1024

/** About the bytes that a row takes in memory. */
const sizeOf = ({ cells, lines = '' }: CsvRow) => cells.reduce((sum, cell) => sum + cell.length + 16, lines.length)

/** Gives the images that successive rows of a product name, in the order of positions, to the last of its variants. */
async function* gatherImages(
  rows: AsyncIterable<CsvRow>,
  { imagesOf, roleOf, columns }: Source,
  places: OpenedSource['places'],
): AsyncGenerator<CsvRow> {
  const place = columns.images?.from.flatMap((name) => places.get(name) ?? [])[0]
  if (imagesOf === undefined || place === undefined) return yield* rows
  let product: string | undefined
  let held: CsvRow | undefined
  /** The refused rows below the one that is held: they have what it says of the product, so they come after it. */
  let behind: CsvRow[] = []
  let behindBytes = 0
  let positions = new Map<string, number>()
  const heldWith = (images: string) => (held === undefined ? [] : [withCell(held, place, images), ...behind])
  const heldWithImages = () => {
    const urls = [...positions].toSorted(([, one], [, other]) => (one < other ? -1 : Number(one > other)))
    return heldWith(urls.map(([url]) => url).join('\n'))
  }
  try {
    for await (const row of rows) {
      const cell = cellsOf(row.cells, places)
      const { leads, follows, isProduct } = roleOf(cell)
      const name = leads ?? follows
      const isSame = name !== undefined && name === product
      // The images stay with the rows that are good.
      if (row.refusal !== undefined && (isSame || !isProduct)) {
        if (isSame) behindBytes += sizeOf(row)
        if (behindBytes > MAX_BEHIND) {
          yield* heldWithImages()
          ;[held, behind, positions] = [undefined, [], new Map()]
        }
        if (isSame && held !== undefined) behind.push(row)
        else yield row
        continue
      }
      if (!isSame) {
        yield* heldWithImages()
        ;[product, held, positions] = [name, undefined, new Map()]
      }
      if (!isProduct && held === undefined) {
        if (imagesOf(cell).length > 0) yield { ...row, refusal: badRequest(['images'], WITHOUT_PRODUCT) }
        continue
      }
      // A product has no more: one that is too much is refused.
      for (const { url, position } of imagesOf(cell)) {
        const kept = copyOf(url.slice(0, LIMITS.imageUrlLength + 1))
        if (positions.size <= LIMITS.mediaPerProduct && !positions.has(kept)) positions.set(kept, position)
      }
      if (isSame && !isProduct) continue
      yield* heldWith('')
      ;[held, behind, behindBytes] = [row, [], 0]
    }
  } catch (error) {
    // The rows before the one that cannot be read.
    yield* heldWithImages()
    throw error
  }
  yield* heldWithImages()
}

const WITHOUT_PRODUCT =
  'is an image of a product whose rows are not directly above: put them above it, also in a corrected file'

/** A part of a text that does not keep the whole one in memory. */
const copyOf = (part: string): string => Buffer.from(part).toString()

/** The row with this text in a cell, unless it is refused for being too short. */
const withCell = (row: CsvRow, place: number, text: string): CsvRow =>
  place < row.cells.length ? { ...row, cells: row.cells.with(place, text) } : row
