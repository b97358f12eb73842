/** How long a file is computed at a time, in milliseconds. */
const SLICE_MS = 5

/**
 * Lets files that are validated at the same time take turns: one computes at a time and for a short while, and requests
 * are answered in between. A workspace has one file, so the workspaces take turns.
 */
export class TimeSlices {
  readonly #waiting: (() => void)[] = []

  /** Passes rows on, for a turn at a time. Throws the reason of the signal when it is aborted. */
  async *of<Row>(rows: AsyncGenerator<Row>, signal: AbortSignal): AsyncGenerator<Row, undefined> {
    try {
      for (let until = 0; ; ) {
        if (performance.now() >= until) {
          await this.#next()
          signal.throwIfAborted()
          until = performance.now() + SLICE_MS
        }
        const { done = false, value } = await rows.next()
        if (done) return undefined
        yield value
      }
    } finally {
      await rows.return(undefined)
    }
  }

  /** Waits for the next turn, at the earliest after what waits in the event loop. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) setImmediate(() => this.#startNext())
    })
  }

  #startNext(): void {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(() => this.#startNext())
  }
}
