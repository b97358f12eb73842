import type { MoneyMap } from '@backoffice/contracts/fields.ts'
import type { CategoryReference, MediaItem, Product, ProductState, Tag } from '@backoffice/contracts/product.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { priceRange } from './pricing.ts'

/** A product with everything that belongs to it, as written or read, ids resolved. */
export interface ProductRecord {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly status: Product['status']
  readonly type: Product['type']
  readonly description: string | null
  readonly requiresShipping: boolean
  readonly canPreorder: boolean
  readonly preorderStopsAt: Date | null
  readonly maxCartQuantity: number | null
  readonly lowStockThreshold: number | null
  readonly purchaseNote: string | null
  readonly taxClass: string | null
  readonly version: number
  readonly categories: CategoryReference[]
  readonly tags: Tag[]
  readonly options: Product['options']
  readonly media: MediaRecord[]
  readonly variants: VariantRecord[]
  readonly createdAt: Date
  readonly updatedAt: Date
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

/** The product's state for projections: its body, and what other services need besides. */
export function productState(product: ProductRecord, body: Product): ProductState {
  return { ...body, slug: product.slug, tags: product.tags, variants: product.variants, version: product.version }
}
