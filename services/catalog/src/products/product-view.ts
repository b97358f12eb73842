import type { RecordOf } from '@backoffice/contracts/members.ts'
import {
  type CategoryReference,
  type MediaItem,
  PRODUCT,
  type Product,
  type Tag,
  VARIANT,
} from '@backoffice/contracts/product.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { priceRange } from './pricing.ts'

/** A whole product, as it is read and written. */
export interface ProductRecord extends RecordOf<typeof PRODUCT> {
  readonly categories: CategoryReference[]
  readonly tags: Tag[]
  readonly options: Product['options']
  readonly media: MediaRecord[]
  readonly variants: VariantRecord[]
}

export type VariantRecord = RecordOf<typeof VARIANT>

export interface MediaRecord {
  readonly id: string
  /** The asset's id. */
  readonly asset: string
  readonly path: string
  readonly thumbnailPath: string | null
  readonly type: string
  readonly position: number
}

/** The product body, exactly the fields of the specification (spec: Product; unset values OP-09). */
export const productBody = (product: ProductRecord): Product =>
  PRODUCT.answerOf(product, {
    category: product.categories[0]?.name ?? null,
    categories: product.categories,
    total_stock: totalStock(product.variants),
    price_range: priceRange(product.variants.map((variant) => variant.price)),
    options: product.options,
    media: product.media.map(mediaItem),
    variants: product.variants.map(variantBody),
  })

/** The sum, within ±(2^53−1) like all numbers (OP-07): orders move the stock of each variant by itself. */
function totalStock(variants: ProductRecord['variants']): number {
  const total = variants.reduce((sum, { stock }) => sum + stock, 0)
  return Math.min(Math.max(total, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}

/** A variant, in the product's body and by itself (OP-22). */
export const variantBody = (variant: VariantRecord): Product['variants'][number] => VARIANT.answerOf(variant)

const mediaItem = ({ id, path, thumbnailPath, type, position }: MediaRecord): MediaItem => ({
  id,
  url: assetUrl(path),
  thumbnail: thumbnailPath === null ? null : assetUrl(thumbnailPath),
  type,
  position,
})

/** The product's state for projections: its body, and the members that only other services need. */
export const productState = (product: ProductRecord, body: Product): ProductState => ({
  ...PRODUCT.stateOf(product, { ...body, tags: product.tags }),
  variants: product.variants.map((variant) => VARIANT.stateOf(variant)),
})
