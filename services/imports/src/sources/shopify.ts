import { badRequest } from '@backoffice/contracts/errors.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { type CellOf, imagesIn, listOf, priceIn, type Source, trackedStock, untrackedStock } from './source.ts'

const VALUES = ['option1 value', 'option2 value', 'option3 value'] as const

/** A product without options has one that says so. */
const isVariant = (cell: CellOf) => !['', 'Default Title'].includes(cell('option1 value'))

const ofVariant = (text: string, { cell }: { readonly cell: CellOf }) => (isVariant(cell) && text) || undefined

/** SKUs are optional there: the handle and the values name a variant as well. */
const skuOf = (sku: string, { cell }: { readonly cell: CellOf }) => {
  if (sku !== '' || cell('handle') === '') return sku || undefined
  const values = isVariant(cell) ? VALUES.flatMap((column) => cell(column) || []) : []
  return [cell('handle'), ...values].map((part) => slugify(part, 'x')).join('-')
}

/** The quantity of a stock that is tracked; '' without one. Exports of shops with several locations have none. */
const quantityOf = (cell: CellOf) => {
  const quantity = cell('variant inventory qty')
  return quantity === '0' && cell('variant inventory tracker', 'unknown') === '' ? '' : quantity
}

const slugOf = (handle: string) => slugify(handle, 'product')

const STATUSES = { active: 'ACTIVE', draft: 'HIDDEN', unlisted: 'HIDDEN', archived: 'ARCHIVED', '': undefined } as const

function statusOf(text: string, { cell }: { readonly cell: CellOf }) {
  const [status, published] = [text.toLowerCase(), cell('published').toLowerCase()]
  if (!Object.hasOwn(STATUSES, status)) throw badRequest(['status'], 'must be active, draft, unlisted or archived')
  if (published === 'false' && status !== 'archived') return 'HIDDEN'
  return STATUSES[status as keyof typeof STATUSES]
}

/** The product export of Shopify: the rows of a handle are its variants, and more of its images. */
export const SHOPIFY: Source = {
  name: 'shopify',
  title: 'Shopify',
  marks: ['handle', 'title', 'variant price'],
  // The names since 2025.
  aliases: {
    'url handle': 'handle',
    description: 'body (html)',
    'published on online store': 'published',
    sku: 'variant sku',
    price: 'variant price',
    'inventory tracker': 'variant inventory tracker',
    'inventory quantity': 'variant inventory qty',
    'requires shipping': 'variant requires shipping',
  },
  columns: {
    sku: { from: ['variant sku', 'handle', ...VALUES], read: skuOf },
    name: { from: ['title'], isOfProduct: true },
    type: { from: ['option1 value', 'option1 name'], read: ofVariantType },
    status: { from: ['status', 'published'], isOfProduct: true, read: statusOf },
    slug: { from: ['handle'], read: (handle) => (handle === '' ? undefined : slugOf(handle)) },
    description: { from: ['body (html)'], isOfProduct: true },
    price: { from: ['variant price'], read: priceIn('price') },
    cost: { from: ['cost per item'], read: priceIn('cost') },
    stock: { from: ['variant inventory qty'], read: (_, { cell }) => trackedStock(quantityOf(cell)) },
    opening_stock: {
      from: ['variant inventory qty', 'handle'],
      read: (_, { cell }) => untrackedStock(quantityOf(cell)),
    },
    tags: { from: ['tags'], isOfProduct: true, read: listOf },
    images: { from: ['image src', 'variant image'], read: imagesIn },
    requires_shipping: { from: ['variant requires shipping'], isOfProduct: true },
    option1_name: { from: ['option1 name'], isOfProduct: true, read: ofVariant },
    option1_value: { from: ['option1 value'], read: ofVariant },
    option2_name: { from: ['option2 name'], isOfProduct: true, read: ofVariant },
    option2_value: { from: ['option2 value'], read: ofVariant },
    option3_name: { from: ['option3 name'], isOfProduct: true, read: ofVariant },
    option3_value: { from: ['option3 value'], read: ofVariant },
  },
  slugOf,
  roleOf(cell) {
    const handle = cell('handle') || undefined
    const isProduct = ['title', 'option1 value', 'variant sku', 'variant price'].some((column) => cell(column) !== '')
    return cell('title') === '' ? { follows: handle, isProduct } : { leads: handle, isProduct }
  },
  imagesOf(cell) {
    const [last, images] = [Number.POSITIVE_INFINITY, imagesIn(cell('image src')) ?? []]
    const position = Number(cell('image position')) || last
    const ofVariant = imagesIn(cell('variant image')) ?? []
    return [...images.map((url) => ({ url, position })), ...ofVariant.map((url) => ({ url, position: last }))]
  },
}

function ofVariantType(_: string, { cell }: { readonly cell: CellOf }) {
  return isVariant(cell) ? 'VARIABLE_PRODUCT' : undefined
}
