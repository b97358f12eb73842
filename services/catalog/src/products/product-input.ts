import { Id, Name, orAbsent, Position } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { named } from '@backoffice/contracts/named.ts'
import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { z } from 'zod'

const OptionInput = named('ProductOptionInput', z.strictObject({ name: Name, values: z.array(Name).min(1) }))

export const VariantInput = named(
  'ProductVariantInput',
  z.strictObject({ ...VARIANT.shapes.create, attributes: z.record(z.string(), z.string()) }),
)

/**
 * One media item to add, by its asset, or to reposition, by its id (spec: Product input for update; OP-36). A member of
 * null is not sent, since the specification shows an entry with all three.
 */
const MediaInput = named(
  'MediaInput',
  z
    .strictObject({ asset: orAbsent(Id), id: orAbsent(Id), position: orAbsent(Position) })
    .refine(
      ({ asset, id }) => asset !== undefined || id !== undefined,
      'needs either an asset to add or the id of a media item',
    )
    .refine(
      ({ id, position }) => id === undefined || position !== undefined,
      'needs the position to move the media item to',
    ),
)

const MEDIA = {
  medias: orAbsent(z.array(MediaInput).max(LIMITS.mediaPerProduct)),
  remove_medias: orAbsent(z.array(Id).max(LIMITS.mediaPerProduct)),
}

/** Clients that know no unset list send an empty one, also for a product that has neither options nor variants. */
const unlessEmpty = <Item>(list: Item[]): Item[] | null => (list.length > 0 ? list : null)

/** Members that belong on each variant of a VARIABLE product (spec: Create rules 2). */
export const PER_VARIANT = VARIANT.inputs

/** The first of them that is sent. Amounts of null or `{}` name none: clients send these for unset ones (OP-244). */
export const perVariantMemberIn = (body: Partial<Record<(typeof PER_VARIANT)[number], unknown>>) =>
  PER_VARIANT.find((member) => {
    const value = body[member] ?? undefined
    return typeof value === 'object' ? Object.keys(value).length > 0 : value !== undefined
  })

/** `categories` wins over `category` (spec: Create rules 3), which is not read then. */
const withoutIgnored = <Body extends z.ZodType>(body: Body) =>
  z.preprocess((sent) => {
    const { category: _, ...others } = Object(sent)
    return Array.isArray(others.categories) ? others : sent
  }, body)

/** Product input for create (spec: Product input for create; OP-13). `planProduct` checks the rules of each type. */
export const CreateProductBody = named(
  'ProductInput',
  withoutIgnored(
    z.strictObject({
      ...PRODUCT.shapes.create,
      ...VARIANT.shapes.update,
      ...MEDIA,
      options: orAbsent(z.array(OptionInput).transform(unlessEmpty)),
      variants: orAbsent(z.array(VariantInput).max(LIMITS.variantsPerProduct).transform(unlessEmpty)),
    }),
  ),
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
  withoutIgnored(
    z.strictObject({
      ...PRODUCT.shapes.update,
      ...VARIANT.shapes.update,
      ...MEDIA,
    }),
  ),
  { name: 'Linen shirt, washed', description: null, tags: ['Summer', 'New'] },
)
export type UpdateProductBody = z.output<typeof UpdateProductBody>
