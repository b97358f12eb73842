import { shardOf } from '../shards/shard-of.ts'

/** The most due times in memory per endpoint, the earliest ones. `TableLook` notes later ones in time. */
const TIMES = 16
/** Due times closer than this are merged, in milliseconds. */
const CLOSE_MS = 10

interface Due {
  /** When something is due, earliest first, in Unix milliseconds. */
  readonly times: number[]
  /** Whether first attempts may be among them: later ones must not overtake them from memory (OP-74). */
  hasFirstAttempts: boolean
  /** The number of the latest `note` for the endpoint. */
  noted: number
}

/**
 * The endpoints for which the table may have due deliveries that are not in memory. After a shard was taken that is
 * any of its endpoints, until that endpoint or the whole table was read.
 */
export class DueEndpoints {
  readonly #due = new Map<string, Due>()
  /** To be read in their turns. */
  readonly #ready = new Set<string>()
  /** They have enough jobs, or there is no room. */
  readonly #parked = new Set<string>()
  /** No endpoint that is neither ready nor parked becomes due before this time: `ready` looks for them only then. */
  #nextAt = Number.POSITIVE_INFINITY
  #notes = 0
  /** The shards whose due deliveries are all known, and those of the present reading of the table. */
  readonly #known = new Set<number>()
  #reading: readonly number[] = []
  /** The endpoints of shards that are not in `#known` yet whose own first attempts were all read. */
  readonly #readThrough = new Set<string>()

  /** Notes that something is due for an endpoint at a Unix time in milliseconds. */
  note(endpointId: string, dueAt: number, hasFirstAttempts: boolean): void {
    const due = this.#due.get(endpointId) ?? { times: [], hasFirstAttempts, noted: 0 }
    this.#due.set(endpointId, due)
    due.hasFirstAttempts ||= hasFirstAttempts
    due.noted = ++this.#notes
    insert(due.times, dueAt)
    if (this.#isComing(endpointId)) this.#nextAt = Math.min(this.#nextAt, dueAt)
  }

  /** The number of notes so far; `noteRead` keeps what is noted after it. */
  get notes(): number {
    return this.#notes
  }

  /** Whether first attempts of an endpoint are to be read from the table. */
  hasFirstAttempts(endpointId: string): boolean {
    return this.#due.get(endpointId)?.hasFirstAttempts ?? false
  }

  /** Whether all first attempts of an endpoint that are due are in memory: then fresh ones follow from there. */
  isComplete(endpointId: string): boolean {
    return !this.hasFirstAttempts(endpointId) && this.isKnown(endpointId)
  }

  /** Whether what was due for an endpoint when its shard was taken has been noted. */
  isKnown(endpointId: string): boolean {
    return this.#known.has(shardOf(endpointId)) || this.#readThrough.has(endpointId)
  }

  /** A reading of the whole table begins, with these shards. */
  beginReading(shards: readonly number[]): void {
    this.#reading = shards
  }

  /** The whole table was read: what was due in the shards that were this process's from its beginning is noted. */
  endReading(): void {
    for (const shard of this.#reading) this.#known.add(shard)
    for (const id of this.#readThrough) if (this.#known.has(shardOf(id))) this.#readThrough.delete(id)
  }

  /**
   * All that was due for an endpoint up to `at` was read. `notes` is their number when the reading began: an endpoint
   * noted since stays due, because the reading may lack that.
   */
  noteRead(endpointId: string, at: number, notes: number): void {
    const due = this.#due.get(endpointId)
    if (due === undefined || due.noted > notes) return
    if (due.hasFirstAttempts && !this.#known.has(shardOf(endpointId))) this.#readThrough.add(endpointId)
    due.hasFirstAttempts = false
    due.times.splice(0, due.times.length, ...due.times.filter((time) => time > at))
    const [next] = due.times
    if (next === undefined) this.forget(endpointId)
    else this.#move(endpointId)
    this.#nextAt = Math.min(this.#nextAt, next ?? Number.POSITIVE_INFINITY)
  }

  /** The endpoints to be read, in round-robin order, without the parked ones. */
  ready(now: number): string[] {
    if (now >= this.#nextAt) this.#look(now)
    return [...this.#ready]
  }

  /** The next time at which `ready` may return more endpoints; Infinity while none is coming. */
  get nextAt(): number {
    return this.#nextAt
  }

  /** Moves an endpoint behind the other ready ones. */
  hadTurn(endpointId: string): void {
    if (this.#ready.delete(endpointId)) this.#ready.add(endpointId)
  }

  /** Leaves an endpoint out of the turns until `unpark`. */
  park(endpointId: string): void {
    if (this.#ready.has(endpointId)) this.#move(endpointId, this.#parked)
  }

  /** Puts a parked endpoint behind the ready ones. */
  unpark(endpointId: string): void {
    if (this.#parked.has(endpointId)) this.#move(endpointId, this.#ready)
  }

  /** Puts all parked endpoints behind the ready ones, in the order in which they were parked. */
  unparkAll(): void {
    for (const endpointId of this.#parked) this.#move(endpointId, this.#ready)
  }

  forget(endpointId: string): void {
    this.#due.delete(endpointId)
    this.#move(endpointId)
  }

  /** Forgets all of shards that are not this process's any more. */
  drop(shards: ReadonlySet<number>): void {
    for (const id of this.#due.keys()) if (shards.has(shardOf(id))) this.forget(id)
    for (const id of this.#readThrough) if (shards.has(shardOf(id))) this.#readThrough.delete(id)
    for (const shard of shards) this.#known.delete(shard)
    this.#reading = this.#reading.filter((shard) => !shards.has(shard))
  }

  #look(now: number): void {
    this.#nextAt = Number.POSITIVE_INFINITY
    for (const [endpointId, { times }] of this.#due) {
      if (!this.#isComing(endpointId)) continue
      const at = times[0] ?? 0
      if (at <= now) this.#move(endpointId, this.#ready)
      else this.#nextAt = Math.min(this.#nextAt, at)
    }
  }

  #isComing(endpointId: string): boolean {
    return !this.#ready.has(endpointId) && !this.#parked.has(endpointId)
  }

  #move(endpointId: string, to?: Set<string>): void {
    this.#ready.delete(endpointId)
    this.#parked.delete(endpointId)
    to?.add(endpointId)
  }
}

/** Inserts a time in order. Soon after a known one it is rounded up to a multiple of CLOSE_MS. */
function insert(times: number[], time: number): void {
  const end = Math.ceil(time / CLOSE_MS) * CLOSE_MS
  const kept = times.some((known) => known > end - CLOSE_MS && known < time) ? end : time
  const index = times.findIndex((known) => known >= kept)
  if (times[index] === kept) return
  times.splice(index === -1 ? times.length : index, 0, kept)
  if (times.length > TIMES) times.pop()
}
