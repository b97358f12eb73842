/** The longest wait of a request for a lock, in milliseconds (OP-162). */
const LOCK_MS = 3000

/**
 * Settings of connections that serve requests: one that waits for a row, or for an advisory lock, gives its connection back before
 * long. Workers and consumers have connections of their own, and may wait longer.
 */
export const REQUEST_SETTINGS = { lock_timeout: String(LOCK_MS) } as const

/** The longest statement of a request that only reads, in milliseconds (OP-162). */
export const READ_STATEMENT_MS = 5000
