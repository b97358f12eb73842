import type { Template } from '@backoffice/contracts/imports.ts'
import type { CalledBy } from '@backoffice/contracts/services.ts'

export type Owner = CalledBy<'imports'>

/** The service that owns each template: it checks its rows and applies them. */
export const OWNERS: Readonly<Record<Template, Owner>> = {
  products: 'catalog',
  product_variants: 'catalog',
  stock: 'catalog',
  categories: 'catalog',
  collections: 'collections',
  customers: 'orders',
}
