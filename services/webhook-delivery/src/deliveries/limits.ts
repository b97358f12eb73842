import type { Load } from './load.ts'

/** Attempts in flight or not yet recorded at most, all endpoints together, but for the extra ones. */
export const SLOTS = 1536
/** Attempts in flight beyond the few of each endpoint at most: those that hang with so many take no slot from others. */
export const EXTRA_SLOTS = 256
/** Of these, in flight to endpoints that are slow: however many hang, half is left to the others. */
export const SLOW_SLOTS = SLOTS / 2
/** To these and those that nothing is known of yet: a quarter is left to those known to answer. */
export const UNPROVEN_SLOTS = (SLOTS * 3) / 4
/** For retries and resends to all others: as many as leave PostgreSQL time for fresh events (`laterSlotsAfter`). */
export const LATER_SLOTS = { least: SLOTS / 48, most: SLOTS / 4 } as const
/** A write of attempts that takes longer, in milliseconds, has to wait for others: some for it and some for each attempt. */
const WRITE_WITHIN_MS = { base: 10, each: 0.2 } as const

/** Which turns a lane waits in. */
export type Queue = 'first' | 'unknown' | 'slow' | 'later'

/**
 * A workspace has at most so many times what is free: seven eighths of the slots when it is alone, less when others want some,
 * so that there is a free one for whoever comes next.
 */
const PART = 7
/** As PART, of those slots that are for some attempts only: three quarters for a workspace that is alone. */
const PART_OF_SOME = 3

/**
 * The slots for retries and resends after a write of so many attempts took so long: one more when it was quick, a fifth less when
 * it was not. So they take what fresh events leave of PostgreSQL, whoever else uses it.
 */
export function laterSlotsAfter(slots: number, writeMs: number, attempts: number): number {
  return writeMs > WRITE_WITHIN_MS.base + WRITE_WITHIN_MS.each * attempts
    ? Math.max(LATER_SLOTS.least, Math.floor(slots * 0.8))
    : Math.min(LATER_SLOTS.most, slots + 1)
}

/** Whether one more attempt may start out of some turns, whosever it is. */
export function isOpen(queue: Queue, all: Load, laterSlots: number): boolean {
  if (all.busy >= SLOTS) return false
  if (queue === 'slow') return all.slow < SLOW_SLOTS
  if (queue === 'unknown') return all.slow + all.unknown < UNPROVEN_SLOTS
  return queue === 'first' || all.laters < laterSlots
}

/** Whether an endpoint with its few attempts in flight may have one more: as many as are left free, at most. */
export const mayHaveExtra = (own: number, all: Load): boolean => own < EXTRA_SLOTS - all.extra

/** Whether a workspace may start one more attempt out of turns that are open. */
export function mayStart(queue: Queue, own: Load, all: Load, laterSlots: number): boolean {
  if (own.busy >= PART * (SLOTS - all.busy)) return false
  if (queue === 'slow') return own.slow < PART_OF_SOME * (SLOW_SLOTS - all.slow)
  if (queue === 'unknown') return own.slow + own.unknown < PART_OF_SOME * (UNPROVEN_SLOTS - all.slow - all.unknown)
  return queue === 'first' || own.laters < PART_OF_SOME * (laterSlots - all.laters)
}

/** Jobs held in memory at most, all endpoints together, and the bytes of their bodies; one shared by several counts for each. */
export const CAPACITY = 8000
export const CAPACITY_BYTES = 32 * 1024 * 1024
/** Of these, for endpoints that are slow. */
export const SLOW_CAPACITY = CAPACITY / 4
/**
 * Jobs that wait in memory for endpoints that are not slow, about, when their workspaces have a backlog: more do not make these any
 * faster, and would leave no room to claim the deliveries of others.
 */
export const WAITING_SOON = Math.ceil(CAPACITY / 6)
/** As WAITING_SOON, for each endpoint: the events that are taken out of a backlog at once find room beside so many. */
export const WAITING_SOON_EACH = 256
/** What one endpoint and one workspace may hold of the room left: however many fill their share, there is room for another. */
export const ENDPOINT_SHARE = 1 / 8
export const WORKSPACE_SHARE = 3
