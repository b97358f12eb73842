import { z } from 'zod'
import { Id, MoneyMap, Timestamp } from './fields.ts'
import { named } from './named.ts'

export const PRODUCT_TYPES = ['SIMPLE_PRODUCT', 'VARIABLE_PRODUCT', 'VIRTUAL_PRODUCT'] as const
export const PRODUCT_STATUSES = ['ACTIVE', 'HIDDEN', 'ARCHIVED'] as const
export type ProductStatus = (typeof PRODUCT_STATUSES)[number]

/** Category reference (spec: Product). */
export const CategoryReference = named(
  'CategoryReference',
  z.strictObject({
    id: Id,
    name: z.string(),
    slug: z.string(),
    parent: Id.nullable(),
    parent_slug: z.string().nullable(),
  }),
)
export type CategoryReference = z.output<typeof CategoryReference>

/** A product's option with the values the product uses (spec: Product). */
export const Option = named('ProductOption', z.strictObject({ id: Id, name: z.string(), values: z.array(z.string()) }))

/** A media item of a product (spec: Product); `thumbnail` is null for a file that is not an image (OP-18). */
export const MediaItem = named(
  'MediaItem',
  z.strictObject({
    id: Id,
    url: z.string(),
    thumbnail: z.string().nullable(),
    type: z.string(),
    position: z.int(),
  }),
)
export type MediaItem = z.output<typeof MediaItem>

/** A variant; `attributes` maps an option id to the chosen value (spec: Product; OP-11, OP-12). */
export const Variant = named(
  'Variant',
  z.strictObject({
    id: Id,
    sku: z.string(),
    stock: z.int(),
    price: MoneyMap,
    attributes: z.record(z.string(), z.string()),
  }),
)

/** The product body (spec: Product; price_range OP-10). */
export const Product = named(
  'Product',
  z.strictObject({
    id: Id,
    name: z.string(),
    status: z.enum(PRODUCT_STATUSES),
    type: z.enum(PRODUCT_TYPES),
    description: z.string().nullable(),
    category: z.string().nullable(),
    categories: z.array(CategoryReference),
    requires_shipping: z.boolean(),
    can_preorder: z.boolean(),
    total_stock: z.int(),
    price_range: named('PriceRange', z.strictObject({ min: MoneyMap, max: MoneyMap })),
    options: z.array(Option),
    media: z.array(MediaItem),
    variants: z.array(Variant),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  {
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
      {
        id: '0198c7a0-0000-7000-8000-000000000003',
        sku: 'LINEN-M',
        stock: 5,
        price: { EUR: 4900 },
        attributes: { '0198c7a0-0000-7000-8000-000000000002': 'M' },
      },
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
  },
)
export type Product = z.output<typeof Product>

/** A tag (spec: Event names and data). */
export const Tag = named('Tag', z.strictObject({ id: Id, name: z.string(), slug: z.string() }), {
  id: '0198c7a0-0000-7000-8000-000000000005',
  name: 'Summer',
  slug: 'summer',
})
export type Tag = z.output<typeof Tag>

/** A category (spec: Event names and data). */
export const Category = named(
  'Category',
  z.strictObject({
    id: Id,
    name: z.string(),
    slug: z.string(),
    parent: Id.nullable(),
    position: z.int(),
  }),
  { id: '0198c7a0-0000-7000-8000-000000000006', name: 'Shirts', slug: 'shirts', parent: null, position: 0 },
)
export type Category = z.output<typeof Category>
