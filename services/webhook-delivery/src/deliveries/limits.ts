import type { Load } from './load.ts'

/** The most attempts in flight or not yet recorded, of all endpoints together, without the extra ones. */
export const SLOTS = 1536
/** The most attempts in flight beyond FEW per endpoint. These take no slot of SLOTS. */
export const EXTRA_SLOTS = 256
/** The most slots for slow endpoints: however many hang, half is left to the others. */
export const SLOW_SLOTS = SLOTS / 2
/** The most slots for slow and unknown endpoints together: a quarter is left to endpoints known to answer. */
export const UNPROVEN_SLOTS = (SLOTS * 3) / 4
/**
 * The slots for retries and resends, except to slow endpoints: as many as leave PostgreSQL time for fresh events
 * (`laterSlotsAfter`).
 */
export const LATER_SLOTS = { least: SLOTS / 48, most: SLOTS / 4 } as const
/** The longest duration of a quick write, in milliseconds: a base, and a part for each attempt. */
const WRITE_WITHIN_MS = { base: 10, each: 0.2 } as const

/** The queues in which a lane waits for its turn. */
export type Queue = 'first' | 'unknown' | 'slow' | 'later'

/**
 * A workspace may have at most PART times as many slots as are free: seven eighths of all when it is alone, fewer beside others.
 * So a slot is free for the next workspace.
 */
const PART = 7
/** As PART, for the slots of one queue: three quarters for a workspace that is alone. */
const PART_OF_SOME = 3

/**
 * The slots for retries and resends after a write: one more after a quick write, a fifth less after a slow one. So retries use
 * what fresh events leave of PostgreSQL. `writeMs` is in milliseconds.
 */
export function laterSlotsAfter(slots: number, writeMs: number, attempts: number): number {
  return writeMs > WRITE_WITHIN_MS.base + WRITE_WITHIN_MS.each * attempts
    ? Math.max(LATER_SLOTS.least, Math.floor(slots * 0.8))
    : Math.min(LATER_SLOTS.most, slots + 1)
}

/** Whether a queue has a free slot for any workspace. */
export function isOpen(queue: Queue, all: Load, laterSlots: number): boolean {
  if (all.busy >= SLOTS) return false
  if (queue === 'slow') return all.slow < SLOW_SLOTS
  if (queue === 'unknown') return all.slow + all.unknown < UNPROVEN_SLOTS
  return queue === 'first' || all.laters < laterSlots
}

/** Whether an endpoint with `own` extra attempts may start one more: it may have at most as many as are free. */
export const mayHaveExtra = (own: number, all: Load): boolean => own < EXTRA_SLOTS - all.extra

/** Whether a workspace may start one more attempt from an open queue. */
export function mayStart(queue: Queue, own: Load, all: Load, laterSlots: number): boolean {
  if (own.busy >= PART * (SLOTS - all.busy)) return false
  if (queue === 'slow') return own.slow < PART_OF_SOME * (SLOW_SLOTS - all.slow)
  if (queue === 'unknown') return own.slow + own.unknown < PART_OF_SOME * (UNPROVEN_SLOTS - all.slow - all.unknown)
  return queue === 'first' || own.laters < PART_OF_SOME * (laterSlots - all.laters)
}

/** Jobs held in memory at most, all endpoints together, and the bytes of their bodies; one shared by several counts for each. */
export const CAPACITY = 8000
export const CAPACITY_BYTES = 32 * 1024 * 1024
/** The part of CAPACITY for slow endpoints. */
export const SLOW_CAPACITY = CAPACITY / 4
/**
 * About how many jobs for endpoints that are not slow wait in memory while their workspaces have a backlog. More would be sent no
 * sooner, and leave no room to claim the deliveries of others.
 */
export const WAITING_SOON = Math.ceil(CAPACITY / 6)
/** As WAITING_SOON, for each endpoint: the events taken from a backlog at once fit in beside so many. */
export const WAITING_SOON_EACH = 256
/** An endpoint and a workspace may hold at most so many times the free room, so that there is always room for another. */
export const ENDPOINT_SHARE = 1 / 8
export const WORKSPACE_SHARE = 3
