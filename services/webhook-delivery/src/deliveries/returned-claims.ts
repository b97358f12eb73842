import type { Sql } from '@backoffice/postgres/database.ts'
import type { Claim } from '../scheduling/job.ts'
import { LEASE_S, leaveClaims, releaseClaims } from './claims.ts'

/** Claims to give back. While PostgreSQL is away they stay here until their lease ends. */
export class ReturnedClaims {
  readonly #note: (claim: Claim) => void
  #claims: Claim[] = []

  /** Calls `note` twice for each claim: at once, since it waits in the table now, and when it can be claimed. */
  constructor(note: (claim: Claim) => void) {
    this.#note = note
  }

  add(claims: readonly Claim[]): void {
    for (const claim of claims) this.#note(claim)
    this.#claims.push(...claims)
  }

  /** Throws when PostgreSQL is away. No claim may be made meanwhile. */
  giveBack(sql: Sql): Promise<void> {
    return this.#end(sql, releaseClaims)
  }

  /** As `giveBack`, but leaves the claims to other processes, for a stop. */
  leave(sql: Sql): Promise<void> {
    return this.#end(sql, leaveClaims)
  }

  async #end(sql: Sql, end: (sql: Sql, claims: readonly Claim[]) => Promise<void>): Promise<void> {
    const now = performance.now()
    this.#claims = this.#claims.filter(({ claimedAt }) => now - claimedAt < LEASE_S * 1000)
    const claims = [...this.#claims]
    if (claims.length === 0) return
    await end(sql, claims)
    this.#claims.splice(0, claims.length)
    for (const claim of claims) this.#note(claim)
  }
}
