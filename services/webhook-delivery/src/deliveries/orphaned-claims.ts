import type { Sql } from '@backoffice/postgres/database.ts'
import { claimsOlderThan, type OwnClaim } from './claims.ts'

/** After this time a process knows of the claims that it made, in seconds. */
const KNOWN_WITHIN_S = 5

/**
 * Returns a function that finds claims of this process that it does not know, because the connection broke between
 * their commit and the answer. Call it about once a second: it returns a claim that it finds twice in a row.
 */
export function orphanedClaims(sql: Sql, isKnown: (deliveryId: string) => boolean) {
  let suspected: ReadonlySet<string> = new Set()
  return async (claimer: number): Promise<OwnClaim[]> => {
    const unknown = (await claimsOlderThan(sql, claimer, KNOWN_WITHIN_S)).filter(({ id }) => !isKnown(id))
    const orphaned = unknown.filter(({ id }) => suspected.has(id))
    suspected = new Set(unknown.map(({ id }) => id))
    return orphaned
  }
}
