/** Due by any clock. */
export const DUE_NOW = new Date(0)

/** So many times of an endpoint are known at once; whoever looks at the table tells of later ones when these have passed. */
const TIMES = 16
/** Times within so many milliseconds are close to each other. */
const CLOSE_MS = 10

interface Waiting {
  /** When something is due, earliest first. */
  readonly times: number[]
  /** Whether first attempts wait in the table: later ones must not overtake them from memory (OP-74). */
  isBehind: boolean
  /** Number of the note that told of it last. */
  noted: number
  /** Not due yet, as far as was seen; in its turn; or passed over until there is room for it. */
  state: 'coming' | 'ready' | 'parked'
}

/** What this process knows of deliveries that wait in the table: for which endpoints, and when they are due. */
export class Backlog {
  readonly #waiting = new Map<string, Waiting>()
  /** Endpoints with something due, in their turns. */
  readonly #ready = new Set<string>()
  readonly #parked = new Set<string>()
  /** Until when endpoints rest. */
  readonly #resting = new Map<string, number>()
  /** Endpoints that nothing may be sent to: notes of them are dropped. */
  readonly #paused = new Set<string>()
  /** While the table has not been read through: the endpoints whose first attempts in it were all claimed. */
  #caughtUp: Set<string> | undefined = new Set()
  /** No endpoint that is coming is due before. */
  #nextAt = Number.POSITIVE_INFINITY
  #notes = 0

  /** Something waits for an endpoint. */
  note(endpointId: string, dueAt: Date, isBehind = false): void {
    if (this.#paused.has(endpointId)) return
    const waiting = this.#waiting.get(endpointId) ?? {
      times: [],
      isBehind: this.isBehind(endpointId),
      noted: 0,
      state: 'coming',
    }
    this.#waiting.set(endpointId, waiting)
    waiting.isBehind ||= isBehind
    waiting.noted = ++this.#notes
    insert(waiting.times, dueAt.getTime())
    if (waiting.state === 'coming') this.#nextAt = Math.min(this.#nextAt, dueAt.getTime())
  }

  /** Nothing can be sent to an endpoint for now: whatever is due for it waits until then. */
  rest(endpointId: string, until: Date): void {
    this.#resting.set(endpointId, until.getTime())
    this.#come(endpointId)
  }

  /** Nothing may be sent to an endpoint: its deliveries wait in the table, and are forgotten here until it is resumed. */
  pause(endpointId: string): void {
    this.#paused.add(endpointId)
    this.#forget(endpointId)
  }

  /** The table shows that an endpoint is not paused, or not any more. */
  resume(endpointId: string): void {
    this.#paused.delete(endpointId)
  }

  /** Where the notes stand: taken before asking the table, so that what is noted meanwhile is not cleared. */
  get notes(): number {
    return this.#notes
  }

  /** All that was due for an endpoint at a time was claimed, as far as the notes up to `upTo` tell. */
  clear(endpointId: string, at: Date, upTo: number): void {
    const waiting = this.#waiting.get(endpointId)
    if (waiting === undefined || waiting.noted > upTo) return
    const later = waiting.times.filter((time) => time > at.getTime())
    waiting.times.splice(0, waiting.times.length, ...later)
    if (later.length > 0) this.#come(endpointId)
    else this.#forget(endpointId)
  }

  /** All first attempts that were due for an endpoint were claimed, as far as the notes up to `upTo` tell. */
  catchUp(endpointId: string, upTo: number): void {
    const waiting = this.#waiting.get(endpointId)
    if (waiting === undefined || waiting.noted > upTo) return
    waiting.isBehind = false
    this.#caughtUp?.add(endpointId)
  }

  /** Whether first attempts of an endpoint wait in the table, or may do so as long as the table has not been read through. */
  isBehind(endpointId: string): boolean {
    return this.#waiting.get(endpointId)?.isBehind ?? (this.#caughtUp !== undefined && !this.#caughtUp.has(endpointId))
  }

  /** All that waited in the table at the start and is due was noted. */
  noteReadThrough(): void {
    this.#caughtUp = undefined
  }

  get isReadThrough(): boolean {
    return this.#caughtUp === undefined
  }

  /** Endpoints with something due, in their turns, but for those that rest and those that are parked. */
  due(now: Date): string[] {
    if (now.getTime() >= this.#nextAt) this.#look(now.getTime())
    return [...this.#ready]
  }

  /** Whether something is due that could not be claimed yet. */
  get isDue(): boolean {
    return this.#ready.size > 0
  }

  /** When to look again for what is due; undefined when nothing is coming. */
  get nextDueAt(): Date | undefined {
    return this.#nextAt === Number.POSITIVE_INFINITY ? undefined : new Date(this.#nextAt)
  }

  /** An endpoint had its turn: the others come first. */
  hadTurn(endpointId: string): void {
    if (this.#ready.delete(endpointId)) this.#ready.add(endpointId)
  }

  /** There is no room for an endpoint's deliveries until it is unparked. */
  park(endpointId: string): void {
    if (this.#ready.delete(endpointId)) this.#move(endpointId, 'parked')
  }

  /** It comes after those that have been in their turns. */
  unpark(endpointId: string): void {
    if (this.#parked.has(endpointId)) this.#move(endpointId, 'ready')
  }

  /** Those that were parked for longest come first. */
  unparkAll(): void {
    for (const endpointId of this.#parked) this.#move(endpointId, 'ready')
  }

  #look(now: number): void {
    this.#nextAt = Number.POSITIVE_INFINITY
    for (const [endpointId, until] of this.#resting) if (until <= now) this.#resting.delete(endpointId)
    for (const [endpointId, { times, state }] of this.#waiting) {
      if (state !== 'coming') continue
      const dueAt = Math.max(times[0] ?? 0, this.#resting.get(endpointId) ?? 0)
      if (dueAt <= now) this.#move(endpointId, 'ready')
      else this.#nextAt = Math.min(this.#nextAt, dueAt)
    }
  }

  #come(endpointId: string): void {
    const dueAt = this.#waiting.get(endpointId)?.times[0]
    if (dueAt === undefined) return
    this.#move(endpointId, 'coming')
    this.#nextAt = Math.min(this.#nextAt, dueAt)
  }

  #move(endpointId: string, state: Waiting['state']): void {
    const waiting = this.#waiting.get(endpointId)
    if (waiting === undefined) return
    waiting.state = state
    this.#ready.delete(endpointId)
    this.#parked.delete(endpointId)
    if (state === 'ready') this.#ready.add(endpointId)
    if (state === 'parked') this.#parked.add(endpointId)
  }

  #forget(endpointId: string): void {
    this.#waiting.delete(endpointId)
    this.#ready.delete(endpointId)
    this.#parked.delete(endpointId)
  }
}

/** Keeps times in their order. Instead of one that follows another closely, the end of both is kept: so there are few. */
function insert(times: number[], time: number): void {
  const end = Math.ceil(time / CLOSE_MS) * CLOSE_MS
  const kept = times.some((known) => known > end - CLOSE_MS && known < time) ? end : time
  const index = times.findIndex((known) => known >= kept)
  if (times[index] === kept) return
  times.splice(index === -1 ? times.length : index, 0, kept)
  if (times.length > TIMES) times.pop()
}
