import { setTimeout as pause } from 'node:timers/promises'
import type { Attempt } from './attempt.ts'

/** Attempts written at once, at most. */
const AT_ONCE = 500
/** How long an attempt waits for others to be written with, in milliseconds. */
const LINGER_MS = 10
const TRY_AGAIN_MS = 500

/** Writes attempts, and returns the ids of the deliveries whose claim still held. */
export type WriteAttempts = (attempts: readonly Attempt[]) => Promise<Set<string>>

/**
 * Writes the attempts that end at about the same time in one transaction. One write is under way at a time; what ends
 * meanwhile goes with the next. A write that fails is repeated until it succeeds: an attempt that was made is never
 * forgotten while the process lives.
 */
export class Recorder {
  #waiting: Attempt[] = []
  #writing: Promise<void> | undefined
  readonly #write: WriteAttempts
  readonly #onWritten: (attempts: readonly Attempt[], recorded: ReadonlySet<string>) => void

  constructor(write: WriteAttempts, onWritten: (attempts: readonly Attempt[], recorded: ReadonlySet<string>) => void) {
    this.#write = write
    this.#onWritten = onWritten
  }

  add(attempt: Attempt): void {
    this.#waiting.push(attempt)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when everything added so far is written. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await pause(LINGER_MS)
      const attempts = this.#waiting.splice(0, AT_ONCE)
      this.#onWritten(attempts, await this.#untilWritten(attempts))
    }
    // Here and not when the promise is seen to be settled: what is added in between would wait for ever.
    this.#writing = undefined
  }

  async #untilWritten(attempts: readonly Attempt[]): Promise<Set<string>> {
    for (;;) {
      try {
        return await this.#write(attempts)
      } catch {
        await pause(TRY_AGAIN_MS)
      }
    }
  }
}
