/** The longest wait of a request for a lock, in milliseconds (OP-162). */
const LOCK_MS = 3000

/**
 * Of transactions of requests: one that waits too long for a lock gives its connection back. And PostgreSQL scans no
 * whole table where an index begins with the workspace: it could cache such a plan while the table is small (decision
 * 010).
 */
export const REQUEST_SETTINGS = { lock_timeout: String(LOCK_MS), enable_seqscan: 'off' } as const

/** The longest statement of a request that only reads, in milliseconds (OP-162). */
export const READ_STATEMENT_MS = 5000

/**
 * The longest transaction of a request, in milliseconds. With the wait for a connection it is shorter than the limit of
 * the gateway, so the client gets the service's own answer: nothing is applied.
 */
export const REQUEST_TRANSACTION_MS = 14_000
