/** Remembers the ids of tokens that may be used once. */
export interface UsedTokens {
  /**
   * Records an id until it expires; false when it is there already. Two calls at once must not both get true: in SQL it
   * is an insert with `on conflict do nothing`, in Redis a `SET … NX PXAT`.
   */
  use(id: string, expiresAt: Date): Promise<boolean>
}

/** Remembers ids in this process: for one process only, and a restart forgets them. */
export function usedTokensInMemory(clock: () => number = Date.now): UsedTokens {
  const expiries = new Map<string, number>()
  return {
    async use(id, expiresAt) {
      const now = clock()
      for (const [used, expiry] of expiries) if (expiry <= now) expiries.delete(used)
      if (expiries.has(id)) return false
      expiries.set(id, expiresAt.getTime())
      return true
    },
  }
}
