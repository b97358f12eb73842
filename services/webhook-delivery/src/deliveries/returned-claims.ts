import type { Sql } from '@backoffice/postgres/database.ts'
import { LEASE_S, leaveClaims, releaseClaims } from './claims.ts'
import type { Claim } from './job.ts'

/** Claims that are to be given back. Those that cannot be, while PostgreSQL is away, stay until they can or their lease ends. */
export class ReturnedClaims {
  readonly #note: (claim: Claim) => void
  #claims: Claim[] = []

  /** `note` is told twice that a delivery waits in the table: as soon as it is to, and when it can be claimed. */
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

  /** As `giveBack`, to other processes, when this one stops. */
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
