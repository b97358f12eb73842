/** A reading of due deliveries, and what happened since it began: it may have seen the table as it was before. */
export class Reading {
  /** The deliveries that were recorded: they are not to be sent as they were read. */
  readonly recorded = new Set<string>()
  /** The events, by `eventOf`, whose bodies were redacted: the reading may have them as they were before. */
  readonly redacted = new Set<string>()
  /** By endpoint, from which id on first attempts were noted: the reading may lack them. */
  readonly #noted = new Map<string, string>()

  /** First attempts of an endpoint are due, from this id on. */
  noteFirstAttempts(endpointId: string, firstId: string): void {
    const least = this.#noted.get(endpointId)
    if (least === undefined || firstId < least) this.#noted.set(endpointId, firstId)
  }

  /** Whether first attempts up to an id were noted that this reading may not have seen. */
  mayLack(endpointId: string, upTo: string): boolean {
    const least = this.#noted.get(endpointId)
    return least !== undefined && upTo !== '' && least <= upTo
  }
}
