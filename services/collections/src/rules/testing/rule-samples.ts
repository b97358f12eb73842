import type { ProductState } from '@backoffice/contracts/product-records.ts'

const NOW = '2026-03-01T12:00:00.000Z'

/** The state of a simple product with the given members. */
export const aState = (members: Partial<ProductState> = {}): ProductState => ({
  id: '00000000-0000-7000-8000-000000000001',
  name: 'Aso-oke cap',
  status: 'ACTIVE',
  type: 'SIMPLE_PRODUCT',
  description: null,
  category: null,
  categories: [],
  requires_shipping: true,
  can_preorder: false,
  total_stock: 0,
  price_range: { min: {}, max: {} },
  options: [],
  media: [],
  variants: [],
  created_at: NOW,
  updated_at: NOW,
  slug: 'aso-oke-cap',
  tags: [],
  version: 1,
  ...members,
})

/** A product's variant for tests. */
export const aVariant = (
  members: Partial<ProductState['variants'][number]> = {},
): ProductState['variants'][number] => ({
  id: '00000000-0000-7000-8000-000000000002',
  sku: 'CAP-M',
  stock: 0,
  price: {},
  cost: {},
  attributes: {},
  ...members,
})

/** A reference to a category for tests; its name is its slug. */
export const aCategory = (id: string, slug: string): ProductState['categories'][number] => ({
  id,
  name: slug,
  slug,
  parent: null,
  parent_slug: null,
})
