import { z } from 'zod'
import { inRecords, withOlder } from './members.ts'
import { exampleOf, namedObject } from './named.ts'
import { Category, PRODUCT, Product, Tag, VARIANT, Variant } from './product.ts'

/*
 * The data of records about products, categories and tags. These shapes are apart from the API's answers, because
 * replicas of two releases publish and read at the same time, and Kafka keeps records of older releases (decision 022).
 */

/** The data of product.created and product.updated: the product body (OP-67). */
export const ProductData = namedObject(
  'ProductData',
  { ...PRODUCT.shapes.data, variants: z.array(inRecords(VARIANT.shapes.data, Variant)) },
  exampleOf(Product),
)
export type ProductData = z.output<typeof ProductData>

/** The data of tag events (spec: Event names and data). */
export const TagData = namedObject('TagData', Tag.shape, exampleOf(Tag))

/** The data of category events (spec: Event names and data). */
export const CategoryData = namedObject('CategoryData', Category.shape, exampleOf(Category))

/** The data of product.state: the whole state of a product, for projections (topic `catalog.products`). */
export const ProductState = z.strictObject({
  ...PRODUCT.shapes.state,
  tags: z.array(TagData),
  variants: z.array(z.strictObject(VARIANT.shapes.state)),
})
export type ProductState = z.output<typeof ProductState>

/** The product body of a record of any release: gives each member that the record may lack its default. */
export const productOf = (data: ProductData): Product => ({
  ...withOlder(PRODUCT, data),
  variants: data.variants.map((variant) => withOlder(VARIANT, variant)),
})
