import type { MoneyMap } from '@backoffice/contracts/fields.ts'

/** Lowest and highest amount per currency over a product's variants, in minor units (OP-10). */
export function priceRange(prices: readonly MoneyMap[]): { min: MoneyMap; max: MoneyMap } {
  const min: MoneyMap = {}
  const max: MoneyMap = {}
  for (const price of prices) {
    for (const [currency, amount] of Object.entries(price)) {
      min[currency] = Math.min(min[currency] ?? amount, amount)
      max[currency] = Math.max(max[currency] ?? amount, amount)
    }
  }
  return { min, max }
}
