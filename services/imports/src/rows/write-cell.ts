/** The text of a cell that `readCell` reads into this value. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.join(';')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([currency, amount]) => `${currency}:${amount}`)
    .join(';')
}
