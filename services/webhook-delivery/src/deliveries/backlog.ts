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

  /** Endpoints with something due. */
  due(now: Date): string[] {
    return [...this.#waiting].filter(([, { dueAt }]) => dueAt <= now.getTime()).map(([endpointId]) => endpointId)
  }

  /** When the next endpoint that has nothing due yet gets something; undefined when none will. */
  nextDueAfter(now: Date): Date | undefined {
    let next = Number.POSITIVE_INFINITY
    for (const { dueAt } of this.#waiting.values()) if (dueAt > now.getTime() && dueAt < next) next = dueAt
    return next === Number.POSITIVE_INFINITY ? undefined : new Date(next)
  }
}
