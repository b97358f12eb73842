import type { MoneyMap } from '@backoffice/contracts/fields.ts'
import type { CategoryReference, MediaItem, Product, Tag } from '@backoffice/contracts/product.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { priceRange } from './pricing.ts'
import type { ProductColumns } from './product-columns.ts'

/** A whole product, as it is read and written. */
export interface ProductRecord extends ProductColumns {
  readonly categories: CategoryReference[]
  readonly tags: Tag[]
  readonly options: Product['options']
  readonly media: MediaRecord[]
  readonly variants: VariantRecord[]
}

export interface VariantRecord {
  readonly id: string
  readonly sku: string
  readonly stock: number
  readonly price: MoneyMap
  readonly cost: MoneyMap
  /** Option id → chosen value. */
  readonly attributes: Record<string, string>
}

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
export function productBody(product: ProductRecord): Product {
  return {
    id: product.id,
    name: product.name,
    status: product.status,
    type: product.type,
    description: product.description,
    category: product.categories[0]?.name ?? null,
    categories: product.categories,
    requires_shipping: product.requiresShipping,
    can_preorder: product.canPreorder,
    total_stock: product.variants.reduce((total, variant) => total + variant.stock, 0),
    price_range: priceRange(product.variants.map((variant) => variant.price)),
    options: product.options,
    media: product.media.map(mediaItem),
    variants: product.variants.map(variantBody),
    created_at: product.createdAt.toISOString(),
    updated_at: product.updatedAt.toISOString(),
  }
}

/** A variant, in the product's body and by itself (OP-22). */
export const variantBody = ({ id, sku, stock, price, attributes }: VariantRecord): Product['variants'][number] => ({
  id,
  sku,
  stock,
  price,
  attributes,
})

const mediaItem = ({ id, path, thumbnailPath, type, position }: MediaRecord): MediaItem => ({
  id,
  url: assetUrl(path),
  thumbnail: thumbnailPath === null ? null : assetUrl(thumbnailPath),
  type,
  position,
})

/** The product's state for projections: its body, and the members that only other services need. */
export function productState(product: ProductRecord, body: Product): ProductState {
  return { ...body, slug: product.slug, tags: product.tags, variants: product.variants, version: product.version }
}
