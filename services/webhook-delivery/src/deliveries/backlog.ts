interface Waiting {
  dueAt: number
  /** Whether first attempts wait in the table: later ones must not overtake them from memory (OP-74). */
  isBehind: boolean
  /** Number of the note that told of it last. */
  noted: number
}

/** What this process knows of deliveries that wait in the table: for which endpoints, and when the first is due. */
export class Backlog {
  readonly #waiting = new Map<string, Waiting>()
  /** Until when endpoints rest. */
  readonly #resting = new Map<string, number>()
  #notes = 0

  /** Something waits for an endpoint. */
  note(endpointId: string, dueAt: Date, isBehind = false): void {
    const known = this.#waiting.get(endpointId)
    this.#waiting.set(endpointId, {
      dueAt: Math.min(known?.dueAt ?? Number.POSITIVE_INFINITY, dueAt.getTime()),
      isBehind: isBehind || (known?.isBehind ?? false),
      noted: ++this.#notes,
    })
  }

  /** Nothing can be sent to an endpoint for now: whatever is due for it waits until then. */
  rest(endpointId: string, until: Date): void {
    this.#resting.set(endpointId, until.getTime())
  }

  /** Where the notes stand: taken before asking the table, so that what is noted meanwhile is not cleared. */
  get notes(): number {
    return this.#notes
  }

  /** All that was due for an endpoint was claimed, as far as the notes up to `upTo` tell. */
  clear(endpointId: string, upTo: number): void {
    const known = this.#waiting.get(endpointId)
    if (known !== undefined && known.noted <= upTo) this.#waiting.delete(endpointId)
  }

  isBehind(endpointId: string): boolean {
    return this.#waiting.get(endpointId)?.isBehind ?? false
  }

  has(endpointId: string): boolean {
    return this.#waiting.has(endpointId)
  }

  /** Endpoints with something due, but for those that rest. */
  due(now: Date): string[] {
    for (const [endpointId, until] of this.#resting) if (until <= now.getTime()) this.#resting.delete(endpointId)
    return [...this.#waiting]
      .filter(([endpointId, { dueAt }]) => dueAt <= now.getTime() && !this.#resting.has(endpointId))
      .map(([endpointId]) => endpointId)
  }

  /** When the next endpoint that has nothing due yet gets something; undefined when none will. */
  nextDueAfter(now: Date): Date | undefined {
    let next = Number.POSITIVE_INFINITY
    for (const { dueAt } of this.#waiting.values()) if (dueAt > now.getTime() && dueAt < next) next = dueAt
    return next === Number.POSITIVE_INFINITY ? undefined : new Date(next)
  }
}
