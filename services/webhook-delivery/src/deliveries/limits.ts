import type { Load } from './load.ts'

/** Attempts in flight or not yet recorded at most, all endpoints together. */
export const SLOTS = 1536
/** Of these, in flight to endpoints that are slow: however many hang, half is left to the others. */
export const SLOW_SLOTS = SLOTS / 2
/** To these and those that nothing is known of yet: a quarter is left to those known to answer. */
export const UNPROVEN_SLOTS = (SLOTS * 3) / 4
/** For retries and resends to all others: as many as leave PostgreSQL time for fresh events (`laterSlotsAfter`). */
export const LATER_SLOTS = { least: 8, most: SLOTS / 4 } as const
/** A write of attempts that takes longer, in milliseconds, has to wait for others. */
const WRITE_WITHIN_MS = 20

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
 * The slots for retries and resends after a write of attempts that took so long: some more while writes are quick, a fifth less
 * whenever one is not. So they take what fresh events leave of the machine, whoever else uses it.
 */
export function laterSlotsAfter(slots: number, writeMs: number): number {
  return writeMs > WRITE_WITHIN_MS
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

/** Whether a workspace may start one more attempt out of turns that are open. */
export function mayStart(queue: Queue, own: Load, all: Load, laterSlots: number): boolean {
  if (own.busy >= PART * (SLOTS - all.busy)) return false
  if (queue === 'slow') return own.slow < PART_OF_SOME * (SLOW_SLOTS - all.slow)
  if (queue === 'unknown') return own.slow + own.unknown < PART_OF_SOME * (UNPROVEN_SLOTS - all.slow - all.unknown)
  return queue === 'first' || own.laters < PART_OF_SOME * (laterSlots - all.laters)
}

/** Jobs held in memory at most, all endpoints together, and the bytes of their bodies; one shared by several counts for each. */
export const CAPACITY = 4000
export const CAPACITY_BYTES = 32 * 1024 * 1024
/** Of these, for endpoints that are slow. */
export const SLOW_CAPACITY = CAPACITY / 4
/** What one endpoint and one workspace may hold of the room left: however many fill their share, there is room for another. */
export const ENDPOINT_SHARE = 1 / 8
export const WORKSPACE_SHARE = 3
