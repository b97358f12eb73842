import { z } from 'zod'
import {
  CategorySlug,
  Id,
  MoneyMap,
  MoneyMapInput,
  Name,
  NonNegativeInteger,
  OPTIONAL_COUNT,
  OPTIONAL_DESCRIPTION,
  OPTIONAL_TIME,
  orAbsent,
  Reference,
  Sku,
  Slug,
  Timestamp,
} from './fields.ts'
import { LIMITS } from './limits.ts'
import { members } from './members.ts'
import { named, namedObject } from './named.ts'

export const PRODUCT_TYPES = ['SIMPLE_PRODUCT', 'VARIABLE_PRODUCT', 'VIRTUAL_PRODUCT'] as const
export const PRODUCT_STATUSES = ['ACTIVE', 'HIDDEN', 'ARCHIVED'] as const
export type ProductStatus = (typeof PRODUCT_STATUSES)[number]

const Text = z.string()

/** Category reference (spec: Product). */
export const CategoryReference = namedObject('CategoryReference', {
  id: Id,
  name: z.string(),
  slug: z.string(),
  parent: Id.nullable(),
  parent_slug: z.string().nullable(),
})
export type CategoryReference = z.output<typeof CategoryReference>

/** A product's option with the values the product uses (spec: Product). */
export const Option = namedObject('ProductOption', { id: Id, name: z.string(), values: z.array(z.string()) })

/** A media item of a product (spec: Product); `thumbnail` is null for a file that is not an image (OP-18). */
export const MediaItem = namedObject('MediaItem', {
  id: Id,
  url: z.string(),
  thumbnail: z.string().nullable(),
  type: z.string(),
  position: z.int(),
})
export type MediaItem = z.output<typeof MediaItem>

/** A tag (spec: Event names and data). */
export const Tag = namedObject(
  'Tag',
  { id: Id, name: z.string(), slug: z.string() },
  {
    id: '0198c7a0-0000-7000-8000-000000000005',
    name: 'Summer',
    slug: 'summer',
  },
)
export type Tag = z.output<typeof Tag>

/** The members of a variant. `attributes` has values by option id; requests name options (OP-11, OP-12, OP-22). */
export const VARIANT = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  sku: { sql: 'text', shape: z.string(), input: Sku, required: true, imported: 'key', shown: 'answer' },
  stock: { sql: 'bigint', shape: z.int(), input: NonNegativeInteger, required: true, imported: true, shown: 'answer' },
  price: { sql: 'jsonb', shape: MoneyMap, input: MoneyMapInput, unset: {}, imported: true, shown: 'answer' },
  cost: { sql: 'jsonb', shape: MoneyMap, input: MoneyMapInput, unset: {}, imported: true, shown: 'state' },
  attributes: { sql: 'jsonb', shape: z.record(z.string(), z.string()), shown: 'answer' },
})

const VARIANT_EXAMPLE = {
  id: '0198c7a0-0000-7000-8000-000000000003',
  sku: 'LINEN-M',
  stock: 5,
  price: { EUR: 4900 },
  attributes: { '0198c7a0-0000-7000-8000-000000000002': 'M' },
}

/** A variant (spec: Product). */
export const Variant = namedObject('Variant', VARIANT.shapes.answer, VARIANT_EXAMPLE)

const LegacyCategory = named(
  'ProductCategoryInput',
  z
    .strictObject({ id: orAbsent(Id), name: orAbsent(Name) })
    .refine(({ id, name }) => id !== undefined || name !== undefined, 'needs an id or a name'),
)
const Categories = z.array(Reference).max(LIMITS.idsPerCall)
const CategorySlugs = z.array(CategorySlug).max(LIMITS.idsPerCall)
const Status = z.enum(PRODUCT_STATUSES)
const Type = z.enum(PRODUCT_TYPES)
const Flag = z.boolean()

/** The members of a product (spec: Product; input OP-13). `VARIANT` has those of a product of one variant. */
export const PRODUCT = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  name: { sql: 'text', shape: Text, input: Name, required: true, imported: true, shown: 'answer' },
  status: { sql: 'text', shape: Status, input: Status, initial: 'ACTIVE', imported: true, shown: 'answer' },
  type: { sql: 'text', shape: Type, input: Type, required: true, imported: true, shown: 'answer' },
  slug: { sql: 'text', shape: Text, input: Slug, create: Slug.nullish(), imported: true, shown: 'state' },
  description: { ...OPTIONAL_DESCRIPTION, imported: true, shown: 'answer' },
  category: { shape: Text.nullable(), input: LegacyCategory, unset: null, shown: 'answer' },
  categories: {
    shape: z.array(CategoryReference),
    input: Categories,
    isList: true,
    imported: CategorySlugs.optional(),
    shown: 'answer',
  },
  tags: {
    shape: z.array(Tag),
    input: z.array(Name).max(LIMITS.idsPerCall),
    isList: true,
    imported: true,
    shown: 'state',
  },
  requires_shipping: { sql: 'boolean', shape: Flag, input: Flag, imported: true, shown: 'answer' },
  can_preorder: { sql: 'boolean', shape: Flag, input: Flag, initial: false, imported: true, shown: 'answer' },
  preorder_stops_at: { ...OPTIONAL_TIME, imported: true, shown: 'nobody' },
  max_cart_quantity: { ...OPTIONAL_COUNT, imported: true, shown: 'nobody' },
  low_stock_threshold: { ...OPTIONAL_COUNT, imported: true, shown: 'nobody' },
  purchase_note: { ...OPTIONAL_DESCRIPTION, imported: true, shown: 'nobody' },
  tax_class: { sql: 'uuid', shape: Id.nullable(), input: Id, unset: null, imported: true, shown: 'nobody' },
  total_stock: { shape: z.int(), shown: 'answer' },
  price_range: { shape: namedObject('PriceRange', { min: MoneyMap, max: MoneyMap }), shown: 'answer' },
  options: { shape: z.array(Option), shown: 'answer' },
  media: { shape: z.array(MediaItem), shown: 'answer' },
  variants: { shape: z.array(Variant), shown: 'answer' },
  version: { sql: 'bigint', shape: z.int(), shown: 'state' },
  /** How many of its versions changed only what it refers to, such as the name of a category. */
  refreshes: { sql: 'bigint', shape: z.int(), shown: 'nobody' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
  updated_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The product body (spec: Product; price_range OP-10). */
export const Product = namedObject('Product', PRODUCT.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000001',
  name: 'Linen shirt',
  status: 'ACTIVE',
  type: 'VARIABLE_PRODUCT',
  description: 'Loose fit',
  category: null,
  categories: [],
  requires_shipping: true,
  can_preorder: false,
  total_stock: 12,
  price_range: { min: { EUR: 4900 }, max: { EUR: 5400 } },
  options: [{ id: '0198c7a0-0000-7000-8000-000000000002', name: 'Size', values: ['M', 'L'] }],
  media: [],
  variants: [
    VARIANT_EXAMPLE,
    {
      id: '0198c7a0-0000-7000-8000-000000000004',
      sku: 'LINEN-L',
      stock: 7,
      price: { EUR: 5400 },
      attributes: { '0198c7a0-0000-7000-8000-000000000002': 'L' },
    },
  ],
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
})
export type Product = z.output<typeof Product>

/** A category (spec: Event names and data). */
export const Category = namedObject(
  'Category',
  { id: Id, name: z.string(), slug: z.string(), parent: Id.nullable(), position: z.int() },
  { id: '0198c7a0-0000-7000-8000-000000000006', name: 'Shirts', slug: 'shirts', parent: null, position: 0 },
)
export type Category = z.output<typeof Category>
