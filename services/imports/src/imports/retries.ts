/*
 * How imports are tried again, as intervals of PostgreSQL.
 */

/** A claim ends after so long: without a heartbeat, or without an answer of an owner, which takes a fraction of it. */
export const LEASE = '20 seconds'

/** The time until work that failed is tried again. */
export const PAUSE = '3 seconds'

/** How long work is tried again while the storage or the template's owner is away, before it is FAILED. */
export const GIVE_UP_AFTER = '10 minutes'
