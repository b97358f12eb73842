/** A reading of due deliveries, and what happened since it began: it may have seen the table as it was before. */
export class Reading {
  readonly #recorded = new Set<string>()
  /** By endpoint, from which id on first attempts were noted: the reading may lack them. */
  readonly #noted = new Map<string, string>()
  /** The events, by `eventOf`, whose bodies were redacted: the reading may have them as they were before. */
  readonly #redacted = new Set<string>()

  noteRecorded(deliveryId: string): void {
    this.#recorded.add(deliveryId)
  }

  /** First attempts of an endpoint are due, from this id on. */
  noteFirstAttempts(endpointId: string, firstId: string): void {
    const least = this.#noted.get(endpointId)
    if (least === undefined || firstId < least) this.#noted.set(endpointId, firstId)
  }

  noteRedacted(event: string): void {
    this.#redacted.add(event)
  }

  /** Whether a delivery was recorded: it is not to be sent as it was read. */
  hasRecorded(deliveryId: string): boolean {
    return this.#recorded.has(deliveryId)
  }

  hasRedacted(event: string): boolean {
    return this.#redacted.has(event)
  }

  /** Whether first attempts up to an id were noted that this reading may not have seen. */
  mayLack(endpointId: string, upTo: string): boolean {
    const least = this.#noted.get(endpointId)
    return least !== undefined && upTo !== '' && least <= upTo
  }
}
