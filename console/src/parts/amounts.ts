import { minorDigits } from '../../../libs/contracts/src/minor-digits.ts'

/** The decimals of a currency by ISO 4217: 2 for USD, 0 for JPY. */
export const decimalsOf = minorDigits

/** An amount in minor units as a decimal: `12.50` for 1250 of a currency with two. It is exact at any size. */
export function decimalText(amount: number, currency: string): string {
  const decimals = decimalsOf(currency)
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  return `${amount < 0 ? '-' : ''}${whole}${decimals > 0 ? `.${digits.slice(-decimals)}` : ''}`
}

/**
 * The minor units of an amount that somebody typed: 1250 for `12.5` in a currency with two decimals. Returns undefined
 * for anything else than digits with a point or a comma, for more decimals than the currency has, and for what may mean
 * thousands: `1,200`.
 */
export function parseAmount(typed: string, currency: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:(?!,\d{3}$)[.,](\d+))?$/.exec(typed.trim()) ?? []
  const decimals = decimalsOf(currency)
  if (whole === undefined || fraction.length > decimals) return undefined
  const amount = Number(whole + fraction.padEnd(decimals, '0'))
  return Number.isSafeInteger(amount) ? amount : undefined
}
