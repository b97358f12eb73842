import { CART_PRICE_SECONDS } from '@backoffice/contracts/order.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

export const RateLimit = z.strictObject({
  per_second: z.int().min(1).max(100_000),
  burst: z.int().min(1).max(1_000_000),
})
export const ProductStatuses = z
  .array(z.enum(PRODUCT_STATUSES))
  .min(1)
  .refine((statuses) => new Set(statuses).size === statuses.length, 'must not name a status twice')
/** At most a year. */
export const CartPriceSeconds = z.int().min(0).max(31_536_000)

/** The settings in force; a `rate_limit` of null is the deployment's limit (OP-06). */
export const Settings = z.strictObject({
  product_statuses: ProductStatuses,
  rate_limit: RateLimit.nullable(),
  cart_price_seconds: CartPriceSeconds,
})

/** The settings in force, as one expression: a row of `settings`, or none. */
export const settingsOf = (sql: AnySql): SqlPart => sql`
  json_build_object(
    'product_statuses', coalesce(settings.product_statuses, ${[...PRODUCT_STATUSES]}),
    'rate_limit', case when settings.rate_limit_per_second is not null then
      json_build_object('per_second', settings.rate_limit_per_second, 'burst', settings.rate_limit_burst)
    end,
    'cart_price_seconds', coalesce(settings.cart_price_seconds, ${CART_PRICE_SECONDS})
  )`
