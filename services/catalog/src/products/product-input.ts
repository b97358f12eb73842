import { Id, Name, Position } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { named } from '@backoffice/contracts/named.ts'
import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { z } from 'zod'

const OptionInput = named('ProductOptionInput', z.strictObject({ name: Name, values: z.array(Name).min(1) }))

export const VariantInput = named(
  'ProductVariantInput',
  z.strictObject({ ...VARIANT.shapes.create, attributes: z.record(z.string(), z.string()) }),
)

/** One media item to add, by its asset, or to reposition, by its id (spec: Product input for update; OP-36). */
const MediaInput = named(
  'MediaInput',
  z
    .strictObject({ asset: Id.optional(), id: Id.optional(), position: Position.optional() })
    .refine(
      ({ asset, id }) => (asset === undefined) !== (id === undefined),
      'needs either an asset to add or the id of a media item',
    )
    .refine(
      ({ id, position }) => id === undefined || position !== undefined,
      'needs the position to move the media item to',
    ),
)

const Medias = z.array(MediaInput).max(LIMITS.mediaPerProduct)

/** Members that belong on each variant of a VARIABLE product (spec: Create rules 2). */
export const PER_VARIANT = VARIANT.inputs

/** Product input for create (spec: Product input for create; OP-13). `planProduct` checks the rules of each type. */
export const CreateProductBody = named(
  'ProductInput',
  z.strictObject({
    ...PRODUCT.shapes.create,
    ...VARIANT.shapes.update,
    medias: Medias.optional(),
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
 * Product input for update (spec: Product input for update). An omitted member stays, null unsets a member (OP-09).
 * `planUpdate` checks the rules of the product's type.
 */
export const UpdateProductBody = named(
  'ProductUpdate',
  z.strictObject({
    ...PRODUCT.shapes.update,
    ...VARIANT.shapes.update,
    medias: Medias.optional(),
    remove_medias: z.array(Id).max(LIMITS.mediaPerProduct).optional(),
  }),
  { name: 'Linen shirt, washed', description: null, tags: ['Summer', 'New'] },
)
export type UpdateProductBody = z.output<typeof UpdateProductBody>
