import type { Load } from './load.ts'

/** The most attempts in flight or not yet recorded, of all endpoints together, without those of bursts. */
export const SLOTS = 1536
/** The most attempts in flight in bursts: those beyond BASE_CONCURRENCY per endpoint. These take no slot of SLOTS. */
export const BURST_SLOTS = 512
/** The most slots for slow endpoints: however many hang, half is left to the others. */
export const SLOW_SLOTS = SLOTS / 2
/**
 * The most slots for attempts that started while their endpoint was slow or unknown: a quarter is left to the others.
 * An attempt counts as its endpoint was when it started, so quick endpoints that begin to hang use none of these.
 */
export const UNPROVEN_SLOTS = (SLOTS * 3) / 4
/**
 * The slots for repeats (retries and resends), except to slow endpoints: as many as leave PostgreSQL time for fresh
 * events (`repeatSlotsAfter`).
 */
export const REPEAT_SLOTS = { least: SLOTS / 48, most: SLOTS / 4 } as const
/** The longest duration of a quick write, in milliseconds: a base, and a part for each attempt. */
const WRITE_WITHIN_MS = { base: 10, each: 0.2 } as const

/**
 * The bytes of large bodies in flight that workspaces share: each attempt has a copy of its own. Beyond them, up to as
 * many again, a workspace that has no large body in flight may send one, so that a few workspaces hold up no other.
 */
export const SENDING_BYTES = 64 * 1024 * 1024
/** The part of them for slow and unknown endpoints together. */
export const UNPROVEN_SENDING_BYTES = (SENDING_BYTES * 3) / 4
/** What a body has beyond so many bytes counts: slots alone limit the small ones. */
const SMALL_BODY = 16 * 1024

/** The bytes of a body that count for SENDING_BYTES. */
export const sendingBytesOf = (body: Buffer): number => Math.max(0, body.length - SMALL_BODY)

/** The kinds of attempts, each with slots: first attempts, repeats, and all to unknown and to slow endpoints. */
export type AttemptKind = 'first' | 'unknown' | 'slow' | 'repeat'

/**
 * A workspace may start an attempt while it has fewer than so many times the free slots: alone it gets seven eighths
 * of all, beside others fewer. So a slot is free for the next workspace. The same for bytes, as far as bodies allow it.
 */
const WORKSPACE_SLOT_SHARE = 7
/** As WORKSPACE_SLOT_SHARE, for the slots of one kind and their bytes: three quarters for a workspace that is alone. */
const WORKSPACE_KIND_SHARE = 3

/**
 * The slots for repeats after a write: one more after a quick write, a fifth less after a slow one. So repeats use what
 * fresh events leave of PostgreSQL. `writeMs` is in milliseconds.
 */
export function repeatSlotsAfter(slots: number, writeMs: number, attempts: number): number {
  return writeMs > WRITE_WITHIN_MS.base + WRITE_WITHIN_MS.each * attempts
    ? Math.max(REPEAT_SLOTS.least, Math.floor(slots * 0.8))
    : Math.min(REPEAT_SLOTS.most, slots + 1)
}

/** Whether an endpoint with `own` attempts in a burst may start one more: it may have at most as many as are free. */
export const mayBurst = (own: number, workspace: Load, all: Load): boolean =>
  own < BURST_SLOTS - all.burst && workspace.burst < WORKSPACE_KIND_SHARE * (BURST_SLOTS - all.burst)

/** Whether a workspace may start one more attempt of a kind. One without any may while a slot of the kind is free. */
export function mayStart(kind: AttemptKind, own: Load, all: Load, repeatSlots: number): boolean {
  if (own.busy >= WORKSPACE_SLOT_SHARE * (SLOTS - all.busy)) return false
  if (!maySend(own.sending, all.sending, SENDING_BYTES, WORKSPACE_SLOT_SHARE)) return false
  const isUnproven = kind === 'slow' || kind === 'unknown'
  if (isUnproven && !maySend(own.unprovenSending, all.unprovenSending, UNPROVEN_SENDING_BYTES, WORKSPACE_KIND_SHARE))
    return false
  if (kind === 'slow') return all.unproven < UNPROVEN_SLOTS && own.slow < WORKSPACE_KIND_SHARE * (SLOW_SLOTS - all.slow)
  if (kind === 'unknown') return own.unproven < WORKSPACE_KIND_SHARE * (UNPROVEN_SLOTS - all.unproven)
  return kind === 'first' || own.repeats < WORKSPACE_KIND_SHARE * (repeatSlots - all.repeats)
}

/** Whether a workspace with `own` bytes in flight, of `all`, may send one more body. */
const maySend = (own: number, all: number, most: number, share: number): boolean =>
  own === 0 ? all < 2 * most : own < share * (most - all)

/** Jobs held in memory at most, and the bytes of their bodies; a body shared by several counts once. */
export const CAPACITY = 8000
export const CAPACITY_BYTES = 32 * 1024 * 1024
/** The part of CAPACITY for slow endpoints, and the part of CAPACITY_BYTES for slow and unknown ones together. */
export const SLOW_CAPACITY = CAPACITY / 4
export const UNPROVEN_BYTES = CAPACITY_BYTES / 4
/** An endpoint and a workspace may hold at most so many times the free memory, so that some is left for another. */
export const ENDPOINT_SHARE = 1 / 8
export const WORKSPACE_SHARE = 3
