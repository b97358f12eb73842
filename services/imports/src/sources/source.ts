import { badRequest } from '@backoffice/contracts/errors.ts'
import type { ProductRow } from '@backoffice/contracts/imports.ts'
import { minorDigits } from '@backoffice/contracts/minor-digits.ts'

/** The text of a row's cell by the name of its column, without spaces around it; `absent` without the column, or ''. */
export type CellOf = (column: string, absent?: string) => string

/** What a value is read from, besides its own cell. */
export interface SourceRow {
  readonly cell: CellOf
  /** That of the file's prices. */
  readonly currency: string
}

interface SourceColumn {
  /** The names of the columns that it is read from, in lower case. Reports name the first that the file has. */
  readonly from: readonly [string, ...string[]]
  /** The value of the first column's text; undefined for none. Unless it is given, texts are as in our own files. */
  readonly read?: (text: string, row: SourceRow) => unknown
  /** It is the product's: the variants have it from the row that leads them. */
  readonly isOfProduct?: true
  /** A variant has its own value beside that of the product, in another line of the cell. */
  readonly isAdded?: true
}

export interface SourceImage {
  readonly url: string
  readonly position: number
}

/** What a row is in its file. */
interface SourceRole {
  /** What the rows call it that are variants of its product. */
  readonly leads?: string | undefined
  /** What it calls the row that leads it. */
  readonly follows?: string | undefined
  /** Whether it has a product or a variant; else it only completes other rows. */
  readonly isProduct: boolean
  /** Why it cannot be read without the row that leads it. */
  readonly alone?: string
}

/** A product export of another platform, as a table of what its columns become in the template `products`. */
export interface Source {
  readonly name: 'shopify' | 'woocommerce'
  /** The name of the platform. */
  readonly title: string
  /** The columns by which its header is known. */
  readonly marks: readonly string[]
  /** Other names of columns. */
  readonly aliases: Readonly<Record<string, string>>
  readonly columns: { readonly [Column in keyof ProductRow]?: SourceColumn }
  /** The slug of a product that rows call so (SourceRole). */
  readonly slugOf: (called: string) => string
  readonly roleOf: (cell: CellOf) => SourceRole
  /** The images that a row names, where rows of one product have one each. */
  readonly imagesOf?: (cell: CellOf) => readonly SourceImage[]
}

/** Reads a decimal price, such as `19.99` or `19,99`, into minor units of the currency of the file. */
export const priceIn =
  (column: 'price' | 'cost') =>
  (text: string, { currency }: SourceRow): Readonly<Record<string, number>> | undefined => {
    if (text === '') return undefined
    const [, whole = '', fraction = ''] = /^(\d{1,15})(?:[.,](\d*))?$/.exec(text) ?? []
    const digits = minorDigits(currency)
    if (whole === '' || (digits < 3 && THOUSANDS.test(text)))
      throw badRequest([column], 'must be a price such as 19.99, without separators of thousands')
    const used = fraction.replace(/0+$/, '')
    if (used.length > digits) throw badRequest([column], `has more than the ${digits} decimals of ${currency}`)
    return { [currency]: Number(whole + used.padEnd(digits, '0')) }
  }

/** `1,200` and `1.200` may mean twelve hundred. */
const THOUSANDS = /^[1-9]\d{0,2}[.,]\d{3}$/

/** Reads values between commas. A comma of a value has a backslash before it. */
export function listOf(text: string): string[] | undefined {
  const values = text.split(/(?<!\\),/).flatMap((value) => unescaped(value).trim() || [])
  return values.length === 0 ? undefined : values
}

/** Reads URLs of images, one in a line. */
export const imagesIn = (text: string): string[] | undefined => (text === '' ? undefined : text.split('\n'))

/** A value with the commas that a list of values would escape. */
export const unescaped = (value: string): string => value.replaceAll('\\,', ',')

/** Reads a stock that is tracked. One that was sold beyond is 0. */
export const trackedStock = (text: string): number | undefined => {
  if (!isTracked(text)) return undefined
  if (/^-\d+/.test(text)) return 0
  if (/^\d{1,16}(\.0+)?$/.test(text)) return Number(text)
  throw badRequest(['stock'], 'must be a whole number such as 12')
}

/** A stock that is not tracked begins with 0, and stays as it is in later imports. */
export const untrackedStock = (text: string): number | undefined => (isTracked(text) ? undefined : 0)

const isTracked = (text: string): boolean => text !== '' && text !== 'parent'
