import {
  Description,
  Id,
  MoneyMapInput,
  Name,
  NonNegativeInteger,
  Sku,
  Slug,
  TimestampInput,
} from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { named } from '@backoffice/contracts/named.ts'
import { PRODUCT_STATUSES, PRODUCT_TYPES } from '@backoffice/contracts/product.ts'
import { z } from 'zod'

const LegacyCategory = named(
  'ProductCategoryInput',
  z
    .strictObject({ id: Id.optional(), name: Name.optional() })
    .refine(({ id, name }) => id !== undefined || name !== undefined, 'needs an id or a name'),
)

const OptionInput = named('ProductOptionInput', z.strictObject({ name: Name, values: z.array(Name).min(1) }))

export const VariantInput = named(
  'ProductVariantInput',
  z.strictObject({
    sku: Sku,
    attributes: z.record(z.string(), z.string()),
    price: MoneyMapInput.nullish(),
    cost: MoneyMapInput.nullish(),
    stock: NonNegativeInteger,
  }),
)

/** The highest position media can have: positions are PostgreSQL integers. */
const POSITION_MAX = 2_147_483_647

/** One media item to add, by its asset, or to reposition, by its id (spec: Product input for update; OP-36). */
const MediaInput = named(
  'MediaInput',
  z
    .strictObject({ asset: Id.optional(), id: Id.optional(), position: z.int().min(0).max(POSITION_MAX).optional() })
    .refine(
      ({ asset, id }) => (asset === undefined) !== (id === undefined),
      'needs either an asset to add or the id of a media item',
    )
    .refine(
      ({ id, position }) => id === undefined || position !== undefined,
      'needs the position to move the media item to',
    ),
)

const PRODUCT_MEMBERS = {
  description: Description.nullish(),
  category: LegacyCategory.nullish(),
  categories: z.array(z.string().min(1).max(LIMITS.nameLength)).max(LIMITS.idsPerCall).optional(),
  tags: z.array(Name).max(LIMITS.idsPerCall).optional(),
  tax_class: Id.nullish(),
  requires_shipping: z.boolean().optional(),
  can_preorder: z.boolean().optional(),
  preorder_stops_at: TimestampInput.nullish(),
  max_cart_quantity: NonNegativeInteger.nullish(),
  low_stock_threshold: NonNegativeInteger.nullish(),
  purchase_note: Description.nullish(),
  sku: Sku.optional(),
  price: MoneyMapInput.nullish(),
  cost: MoneyMapInput.nullish(),
  stock: NonNegativeInteger.optional(),
  medias: z.array(MediaInput).max(LIMITS.mediaPerProduct).optional(),
}

/** Members that belong on each variant of a VARIABLE product (spec: Create rules 2). */
export const PER_VARIANT = ['sku', 'price', 'cost', 'stock'] as const

/** Product input for create (spec: Product input for create; OP-13). `planProduct` checks the rules of each type. */
export const CreateProductBody = named(
  'ProductInput',
  z.strictObject({
    name: Name,
    type: z.enum(PRODUCT_TYPES),
    status: z.enum(PRODUCT_STATUSES).optional(),
    slug: Slug.nullish(),
    ...PRODUCT_MEMBERS,
    options: z.array(OptionInput).min(1).optional(),
    variants: z.array(VariantInput).min(1).max(LIMITS.variantsPerProduct).optional(),
  }),
  {
    name: 'Linen shirt',
    type: 'VARIABLE_PRODUCT',
    status: 'ACTIVE',
    description: 'Loose fit',
    tags: ['Summer'],
    options: [{ name: 'Size', values: ['M', 'L'] }],
    variants: [
      { sku: 'LINEN-M', attributes: { Size: 'M' }, price: { EUR: 4900 }, stock: 5 },
      { sku: 'LINEN-L', attributes: { Size: 'L' }, price: { EUR: 5400 }, stock: 7 },
    ],
  },
)
export type CreateProductBody = z.output<typeof CreateProductBody>

/**
 * Product input for update (spec: Product input for update). An omitted member stays, null unsets a member (OP-09). `planUpdate`
 * checks the rules of the product's type.
 */
export const UpdateProductBody = named(
  'ProductUpdate',
  z.strictObject({
    name: Name.optional(),
    type: z.enum(PRODUCT_TYPES).optional(),
    status: z.enum(PRODUCT_STATUSES).optional(),
    slug: Slug.optional(),
    ...PRODUCT_MEMBERS,
    remove_medias: z.array(Id).max(LIMITS.mediaPerProduct).optional(),
  }),
  { name: 'Linen shirt, washed', description: null, tags: ['Summer', 'New'] },
)
export type UpdateProductBody = z.output<typeof UpdateProductBody>
