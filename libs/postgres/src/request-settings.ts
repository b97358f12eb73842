/** The longest wait of a request for a lock, in milliseconds (OP-162). */
const LOCK_MS = 3000

/**
 * Settings of transactions that serve requests: one that waits too long for a row or for an advisory lock gives its connection
 * back. Workers and consumers have connections of their own, and may wait longer.
 *
 * A request reads rows of one workspace, and a table has the rows of all, so PostgreSQL reads no whole table where an index begins
 * with the workspace. Otherwise it would keep a plan that reads a table whole from the time when the table was small (decision 010).
 */
export const REQUEST_SETTINGS = { lock_timeout: String(LOCK_MS), enable_seqscan: 'off' } as const

/** The longest statement of a request that only reads, in milliseconds (OP-162). */
export const READ_STATEMENT_MS = 5000

/**
 * The longest transaction of a request, in milliseconds. With the wait for a connection it ends before the gateway answers that the
 * service did not answer in time, so that the client is told that nothing is applied.
 */
export const REQUEST_TRANSACTION_MS = 14_000
