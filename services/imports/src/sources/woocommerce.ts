import { badRequest } from '@backoffice/contracts/errors.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { restored } from '../files/formulas.ts'
import {
  type CellOf,
  imagesIn,
  listOf,
  priceIn,
  type Source,
  type SourceRow,
  trackedStock,
  unescaped,
  untrackedStock,
} from './source.ts'

const kindsOf = (cell: CellOf) => (listOf(cell('type').toLowerCase()) ?? []) as readonly string[]
const isVariation = (cell: CellOf) => kindsOf(cell).includes('variation')

function typeOf(_: string, { cell }: SourceRow) {
  const kinds = kindsOf(cell)
  if (kinds.includes('variation')) return 'VARIABLE_PRODUCT'
  if (!kinds.includes('simple')) {
    throw badRequest(['type'], 'cannot be imported: leave out all products but simple and variable ones')
  }
  return kinds.includes('virtual') ? 'VIRTUAL_PRODUCT' : 'SIMPLE_PRODUCT'
}

/** The slug of a variation's product: the file has only the SKU, or the id, of its row. */
const slugOf = (parent: string) => slugify(parent.replace(/^id:/, 'product-'), 'product')

function statusOf(published: string) {
  if (published === '') return undefined
  if (['-1', '0', '1', '2'].includes(published)) return published === '1' ? 'ACTIVE' : 'HIDDEN'
  throw badRequest(['status'], 'must be 1 (published), 0 (private), -1 (draft) or 2 (pending)')
}

/** Line breaks are written as `\n`, and that text as `\\n`. */
const textOf = (text: string) => text.replace(/\\\\n|\\n/g, (found) => (found === '\\n' ? '\n' : '\\n'))

const formula = (text: string) => restored(text) || undefined

const attribute = (number: 1 | 2 | 3) => ({
  [`option${number}_name`]: {
    from: [`attribute ${number} name`] as const,
    read: (name: string, { cell }: SourceRow) => (isVariation(cell) && name) || undefined,
  },
  [`option${number}_value`]: {
    from: [`attribute ${number} value(s)`] as const,
    read(value: string, { cell }: SourceRow) {
      if (!isVariation(cell)) return undefined
      if (number === 3 && cell('attribute 4 name') !== '') {
        throw badRequest(['attribute 4 name'], 'is one too many: a variant has up to three options')
      }
      return unescaped(value) || undefined
    },
  },
})

/** The product export of WooCommerce: a row of a variable product, and a row for each of its variations below it. */
export const WOOCOMMERCE: Source = {
  name: 'woocommerce',
  title: 'WooCommerce',
  marks: ['type', 'sku', 'name', 'regular price'],
  aliases: {},
  columns: {
    sku: {
      from: ['sku', 'id'],
      read: (sku, { cell }) => formula(sku) ?? (cell('id') === '' ? undefined : `product-${cell('id')}`),
    },
    name: { from: ['name'], isOfProduct: true, read: formula },
    type: { from: ['type'], read: typeOf },
    status: { from: ['published'], isOfProduct: true, read: statusOf },
    slug: {
      from: ['parent'],
      read: (parent, { cell }) => (isVariation(cell) && parent !== '' ? slugOf(parent) : undefined),
    },
    description: {
      from: ['description', 'short description'],
      isOfProduct: true,
      read: (text, { cell }) => textOf(restored(text || cell('short description'))) || undefined,
    },
    price: { from: ['regular price'], read: priceIn('price') },
    cost: { from: ['cost of goods'], read: priceIn('cost') },
    stock: { from: ['stock'], read: trackedStock },
    opening_stock: { from: ['stock', 'sku'], read: (_, { cell }) => untrackedStock(cell('stock')) },
    tags: { from: ['tags'], isOfProduct: true, read: listOf },
    low_stock_threshold: { from: ['low stock amount'], isOfProduct: true },
    images: {
      from: ['images'],
      isOfProduct: true,
      isAdded: true,
      read: (text) => imagesIn([...new Set(text.split(/[,\n]/).flatMap((url) => url.trim() || []))].join('\n')),
    },
    purchase_note: { from: ['purchase note'], isOfProduct: true, read: formula },
    ...attribute(1),
    ...attribute(2),
    ...attribute(3),
  },
  slugOf,
  roleOf(cell) {
    if (isVariation(cell)) return { follows: cell('parent'), isProduct: true, alone: WITHOUT_PARENT }
    if (!kindsOf(cell).includes('variable')) return { isProduct: true }
    return { leads: cell('sku') || `id:${cell('id')}`, isProduct: false }
  },
}

const WITHOUT_PARENT = 'names no row above this one: the row of the variable product comes before its variations'
