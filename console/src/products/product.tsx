import { Link } from '@tanstack/react-router'
import type { components } from '../api/client.ts'
import { decimalText, parseAmount } from '../parts/amounts.ts'
import { Picture } from '../parts/picture.tsx'
import type { Column } from '../parts/table.tsx'
import { Long, Money } from '../parts/text.tsx'

export type Product = components['schemas']['Product']

export const STATUSES = [
  ['ACTIVE', 'active'],
  ['HIDDEN', 'hidden'],
  ['ARCHIVED', 'archived'],
] as const
export const TYPES = [
  ['SIMPLE_PRODUCT', 'simple'],
  ['VARIABLE_PRODUCT', 'with variants'],
  ['VIRTUAL_PRODUCT', 'virtual'],
] as const

const TYPE_WORDS: Readonly<Record<string, string>> = Object.fromEntries(TYPES)

export const typeOf = ({ type }: Product): string => TYPE_WORDS[type] ?? type

/** The codes of currencies in use. */
export const CURRENCIES = Intl.supportedValuesOf('currency')

export type Prices = Readonly<Record<string, number>>

/** The price that somebody typed, in minor units. Throws for what is none, as the API does: with its path. */
export function priceOf(typed: string, currency: string): number {
  const price = parseAmount(typed, currency)
  if (price === undefined)
    throw new Error(
      `price.${currency}: "${typed}" is no price in ${currency}: write it like ${decimalText(4900, currency)}.`,
    )
  return price
}

const MOST_SHOWN = 2

/** Prices by currency, one below the other. */
export function PriceList({
  min,
  max = min,
  most,
}: {
  readonly min: Prices
  readonly max?: Prices
  readonly most?: number
}) {
  const currencies = Object.keys(min)
  if (currencies.length === 0) return <span className="quiet">no price</span>
  const shown = currencies.slice(0, most)
  return (
    <span className="lines">
      {shown.map((currency) => (
        <span key={currency}>
          <Money amount={min[currency] ?? null} currency={currency} />
          {max[currency] !== min[currency] && (
            <>
              {' – '}
              <Money amount={max[currency] ?? null} currency={currency} />
            </>
          )}
        </span>
      ))}
      {currencies.length > shown.length && <span className="quiet">and {currencies.length - shown.length} more</span>}
    </span>
  )
}

/** How many are in stock; none is easily seen. */
export const Stock = ({ count }: { readonly count: number }) =>
  count > 0 ? count.toLocaleString() : <span className="badge bad">{count.toLocaleString()}</span>

/** Columns of lists of products. */
export const IMAGE: Column<Product> = { head: 'Image', cell: ({ media }) => <Picture url={media[0]?.thumbnail} /> }
export const NAME: Column<Product> = {
  head: 'Product',
  cell: ({ id, name }) => (
    <Link to="/products/$product" params={{ product: id }}>
      <Long text={name} isCut />
    </Link>
  ),
}
export const PRICE_AND_STOCK: readonly Column<Product>[] = [
  {
    head: 'Price',
    cell: ({ price_range: { min, max } }) => <PriceList min={min} max={max} most={MOST_SHOWN} />,
    isNumber: true,
  },
  { head: 'Stock', cell: ({ total_stock }) => <Stock count={total_stock} />, isNumber: true },
]
