import type { Sql } from '@backoffice/postgres/database.ts'
import { claimsOlderThan, type OwnClaim } from './claims.ts'

/** By then whoever made a claim has heard of it. */
const HEARD_WITHIN_S = 5

/**
 * Returns what finds claims of this process that it does not know of, since the connection broke between their commit and the answer.
 * They would wait for their lease to end. To be asked about once a second: a claim counts once it was found twice running.
 */
export function unheardClaims(sql: Sql, isKnown: (deliveryId: string) => boolean) {
  let suspected: ReadonlySet<string> = new Set()
  return async (claimer: number): Promise<OwnClaim[]> => {
    const unknown = (await claimsOlderThan(sql, claimer, HEARD_WITHIN_S)).filter(({ id }) => !isKnown(id))
    const unheard = unknown.filter(({ id }) => suspected.has(id))
    suspected = new Set(unknown.map(({ id }) => id))
    return unheard
  }
}
