/** The most due times in memory per endpoint, the earliest ones. `TableWatch` notes later ones in time. */
const TIMES = 16
/** Due times closer than this are merged, in milliseconds. */
const CLOSE_MS = 10

interface Waiting {
  /** When something is due, earliest first. */
  readonly times: number[]
  /** Whether first attempts wait in the table: later ones must not overtake them from memory (OP-74). */
  hasFirstAttempts: boolean
  /** The number of the latest `note` for the endpoint. */
  noted: number
  /** `coming`: not due yet. `ready`: due, waits for its turn. `parked`: due, but it has enough jobs or no room. */
  state: 'coming' | 'ready' | 'parked'
}

/** What this process knows of deliveries that wait in the table: for which endpoints, and when they are due. */
export class WaitingDeliveries {
  readonly #waiting = new Map<string, Waiting>()
  /** Endpoints with something due, in their turns. */
  readonly #ready = new Set<string>()
  readonly #parked = new Set<string>()
  /** The endpoints without claims until a time, in Unix milliseconds. */
  readonly #resting = new Map<string, number>()
  /** The endpoints of suspended or deleted workspaces: `note` ignores them. */
  readonly #paused = new Set<string>()
  /** The endpoints whose waiting first attempts were all claimed; undefined once the whole table was read. */
  #firstAttemptsClaimed: Set<string> | undefined = new Set()
  /** A lower bound for the due times of all `coming` endpoints, in Unix milliseconds. */
  #nextAt = Number.POSITIVE_INFINITY
  #notes = 0

  /** Notes that deliveries of an endpoint wait in the table; `hasFirstAttempts`: first attempts are among them. */
  note(endpointId: string, dueAt: Date, hasFirstAttempts = false): void {
    if (this.#paused.has(endpointId)) return
    const waiting = this.#waiting.get(endpointId) ?? {
      times: [],
      hasFirstAttempts: this.hasWaitingFirstAttempts(endpointId),
      noted: 0,
      state: 'coming',
    }
    this.#waiting.set(endpointId, waiting)
    waiting.hasFirstAttempts ||= hasFirstAttempts
    waiting.noted = ++this.#notes
    insert(waiting.times, dueAt.getTime())
    if (waiting.state === 'coming') this.#nextAt = Math.min(this.#nextAt, dueAt.getTime())
  }

  /** Lets the deliveries of an endpoint wait in the table until `until`. */
  rest(endpointId: string, until: Date): void {
    this.#resting.set(endpointId, until.getTime())
    this.#come(endpointId)
  }

  /** Forgets an endpoint of a suspended or deleted workspace and ignores its notes until `resume`. */
  pause(endpointId: string): void {
    this.#paused.add(endpointId)
    this.#forget(endpointId)
  }

  /** Ends the pause of an endpoint, if there is one. */
  resume(endpointId: string): void {
    this.#paused.delete(endpointId)
  }

  /** The number of notes so far. Read before a query, it lets `clear` and others keep what is noted meanwhile. */
  get notes(): number {
    return this.#notes
  }

  /** Forgets the due times up to `at`: those deliveries are claimed. Does nothing after a note later than `upTo`. */
  clear(endpointId: string, at: Date, upTo: number): void {
    const waiting = this.#waiting.get(endpointId)
    if (waiting === undefined || waiting.noted > upTo) return
    const later = waiting.times.filter((time) => time > at.getTime())
    waiting.times.splice(0, waiting.times.length, ...later)
    if (later.length > 0) this.#come(endpointId)
    else this.#forget(endpointId)
  }

  /** Notes that all due first attempts of an endpoint are claimed. Does nothing after a note later than `upTo`. */
  noteFirstAttemptsClaimed(endpointId: string, upTo: number): void {
    const waiting = this.#waiting.get(endpointId)
    if (waiting === undefined || waiting.noted > upTo) return
    waiting.hasFirstAttempts = false
    this.#firstAttemptsClaimed?.add(endpointId)
  }

  /** Whether first attempts of an endpoint wait in the table, or perhaps do, before it was read completely. */
  hasWaitingFirstAttempts(endpointId: string): boolean {
    return (
      this.#waiting.get(endpointId)?.hasFirstAttempts ??
      (this.#firstAttemptsClaimed !== undefined && !this.#firstAttemptsClaimed.has(endpointId))
    )
  }

  /** Call it when the whole table was read: every delivery that is due is noted. */
  noteReadThrough(): void {
    this.#firstAttemptsClaimed = undefined
  }

  get isReadThrough(): boolean {
    return this.#firstAttemptsClaimed === undefined
  }

  /** The endpoints with due deliveries in round-robin order, without those that rest or are parked. */
  due(now: Date): string[] {
    if (now.getTime() >= this.#nextAt) this.#look(now.getTime())
    return [...this.#ready]
  }

  /** Whether something is due that could not be claimed yet. */
  get isDue(): boolean {
    return this.#ready.size > 0
  }

  /** The next time at which `due` may return more endpoints; undefined while none is coming. */
  get nextDueAt(): Date | undefined {
    return this.#nextAt === Number.POSITIVE_INFINITY ? undefined : new Date(this.#nextAt)
  }

  /** Moves an endpoint behind the other ready ones. */
  hadTurn(endpointId: string): void {
    if (this.#ready.delete(endpointId)) this.#ready.add(endpointId)
  }

  /** Leaves an endpoint out of the turns until `unpark`. */
  park(endpointId: string): void {
    if (this.#ready.delete(endpointId)) this.#move(endpointId, 'parked')
  }

  /** Puts a parked endpoint behind the ready ones. */
  unpark(endpointId: string): void {
    if (this.#parked.has(endpointId)) this.#move(endpointId, 'ready')
  }

  /** Puts all parked endpoints behind the ready ones, in the order in which they were parked. */
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

/** Inserts a time in order. Soon after a known one it is rounded up to a multiple of CLOSE_MS. */
function insert(times: number[], time: number): void {
  const end = Math.ceil(time / CLOSE_MS) * CLOSE_MS
  const kept = times.some((known) => known > end - CLOSE_MS && known < time) ? end : time
  const index = times.findIndex((known) => known >= kept)
  if (times[index] === kept) return
  times.splice(index === -1 ? times.length : index, 0, kept)
  if (times.length > TIMES) times.pop()
}
