import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { v4 as uuidv4 } from 'uuid'
import { eventOf } from '../queue/read-due.ts'
import type { Job } from '../scheduling/job.ts'
import type { Redaction } from '../shards/notify-due.ts'

/** Notifications come within moments of the commit; what was rolled back never comes. */
const KEPT_MS = 30_000
/** Redacted events that are remembered: an erasure may redact very many, a write takes moments. */
const REDACTED_KEPT = 10_000
/** How long a notification waits for the answer of the statement that made it. */
const ANSWER_WITHIN_MS = 1000

/** What a process writes with one token. */
interface Writing {
  readonly at: number
  /** Resolves when the ids of what was written are known, or nothing can be said. */
  readonly answered: Promise<unknown>
  byEndpoint: Map<string, Job[]> | undefined
}

/** Names what a process is about to write; `wrote` is called with it, and with nothing when that is not known. */
export interface BegunWriting {
  readonly token: string
  wrote(jobs: readonly Job[]): void
}

/**
 * First attempts that this process has written, until it hears of their commit. It hears of all commits in one order,
 * so that no event overtakes another that a different process has written.
 */
export class WrittenJobs {
  readonly #prefix = uuidv4()
  readonly #writings = new Map<string, Writing>()
  /** The deliveries that nothing was heard of. */
  readonly #unheard = new Set<string>()
  /** Those that were read from the table while the answers of statements were still to come, and when. */
  readonly #readEarly = new Map<string, number>()
  /** The events, by `eventOf`, whose bodies were redacted last: what is being written may have the former ones. */
  readonly #redacted = new LRUCache<string, true>({ max: REDACTED_KEPT, ttl: KEPT_MS })
  #unanswered = 0
  #count = 0

  begin(): BegunWriting {
    const token = `${this.#prefix}/${++this.#count}`
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const writing: Writing = { at: performance.now(), answered, byEndpoint: undefined }
    this.#writings.set(token, writing)
    this.#unanswered++
    return {
      token,
      wrote: (jobs) => {
        // A writing without jobs is forgotten; one that has expired meanwhile stays so.
        if (jobs.length === 0) this.#writings.delete(token)
        else if (this.#writings.get(token) === writing) this.#keep(writing, jobs)
        this.#unanswered--
        if (this.#unanswered === 0) this.#readEarly.clear()
        resolve()
      },
    }
  }

  #keep(writing: Writing, jobs: readonly Job[]): void {
    const unread = jobs.filter(({ deliveryId }) => !this.#readEarly.has(deliveryId))
    writing.byEndpoint = Map.groupBy(unread, ({ target }) => target.id)
    for (const { deliveryId } of unread) this.#unheard.add(deliveryId)
  }

  /** A wait for the answer of the statement that was sent with a token; undefined if there is nothing to wait for. */
  untilAnswered(token: string | undefined): Promise<unknown> | undefined {
    const writing = token === undefined ? undefined : this.#writings.get(token)
    if (writing === undefined || writing.byEndpoint !== undefined) return undefined
    return Promise.race([writing.answered, pause(ANSWER_WITHIN_MS, undefined, { ref: false })])
  }

  noteRedacted({ workspaceId, eventIds }: Redaction): void {
    for (const eventId of eventIds) this.#redacted.set(eventOf({ workspaceId, eventId }), true)
  }

  /**
   * The jobs of an endpoint, once; undefined for those to read from the table: another process has written them, or the
   * body of one was redacted since.
   */
  take(token: string | undefined, endpointId: string): readonly Job[] | undefined {
    const writing = token === undefined ? undefined : this.#writings.get(token)
    if (token === undefined || writing === undefined) return undefined
    const jobs = writing.byEndpoint?.get(endpointId)
    writing.byEndpoint?.delete(endpointId)
    if (writing.byEndpoint === undefined || writing.byEndpoint.size === 0) this.#writings.delete(token)
    const unheard = jobs?.filter(({ deliveryId }) => this.#unheard.delete(deliveryId))
    return unheard?.some((job) => this.#isRedacted(job)) ? undefined : unheard
  }

  #isRedacted({ eventId, target: { workspaceId } }: Job): boolean {
    return this.#redacted.size > 0 && this.#redacted.has(eventOf({ workspaceId, eventId }))
  }

  /** Leaves out a delivery that was read from the table: its commit was seen before it was heard of. */
  forget(deliveryId: string): void {
    if (!this.#unheard.delete(deliveryId) && this.#unanswered > 0) this.#readEarly.set(deliveryId, performance.now())
  }

  /**
   * Forgets what was never committed, and what was read early long ago: that is cleared when no answer is awaited,
   * which never happens under load.
   */
  expire(): void {
    const before = performance.now() - KEPT_MS
    for (const [deliveryId, at] of this.#readEarly) {
      if (at > before) break
      this.#readEarly.delete(deliveryId)
    }
    for (const [token, { at, byEndpoint }] of this.#writings) {
      if (at > before) return
      this.#writings.delete(token)
      for (const jobs of byEndpoint?.values() ?? []) for (const { deliveryId } of jobs) this.#unheard.delete(deliveryId)
    }
  }
}
