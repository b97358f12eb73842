/** From when on an operation should not be used any more, and what to use instead: a sentence. */
export interface Deprecation {
  /** A day: `2026-11-26`. */
  readonly since: string
  readonly instead: string
}

const MONTHS = 12

/** When a deprecated operation ends: a year later, since clients are changed and released meanwhile (OP-263). */
function sunsetOf({ since }: Deprecation): Date {
  const day = new Date(since)
  day.setUTCMonth(day.getUTCMonth() + MONTHS)
  return day
}

/** The headers of each of its answers (RFC 9745, RFC 8594). */
export const deprecationHeaders = (deprecation: Deprecation) => ({
  deprecation: `@${Date.parse(deprecation.since) / 1000}`,
  sunset: sunsetOf(deprecation).toUTCString(),
})

export const deprecationNotice = (deprecation: Deprecation): string =>
  `Deprecated since ${deprecation.since}, ends on ${sunsetOf(deprecation).toISOString().slice(0, 10)}. ${deprecation.instead}`
