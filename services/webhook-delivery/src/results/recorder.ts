import { setTimeout as pause } from 'node:timers/promises'
import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import { Patience, type PatienceLimits } from '@backoffice/messaging/consumers/patience.ts'
import { isLockTimeout, isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter, gauge } from '@backoffice/runtime/metrics.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { type Attempt, withoutAnswer } from '../sending/attempt.ts'
import { idsOf } from './note-attempt.ts'

const unwritable = counter('webhook_attempts_unwritable', 'Attempts that PostgreSQL refused')
unwritable.add(0)
const unwritten = gauge('webhook_attempts_unwritten_seconds', 'How long attempts that ended have not been written', 's')

/** Attempts written at once, at most, and about how many bytes of their answers. */
const BATCH_SIZE = 500
const BATCH_BYTES = 4 * 1024 * 1024
/** How long attempts gather that are written together, in milliseconds; from the begin of the write before. */
const LINGER_MS = 10
/** How long to try again what fails as a bug does: meanwhile the attempts of all endpoints wait. */
const LIMITS: PatienceLimits = { bugMs: 20_000, longestWaitMs: 500 }
/** While attempts wait, one try of so many is logged. */
const LOGGED_EVERY = 20
/** The pause before what waits for another transaction is tried again, in milliseconds. */
const HELD_AGAIN_MS = 250

/** How a write is made. */
interface Terms {
  /** The name under which it has patience. */
  readonly name: string
  /** How long it waits for rows that another transaction holds, in milliseconds. */
  readonly lockMs: number
}
/** All writes wait together. */
const TOGETHER: Terms = { name: 'writes', lockMs: 1000 }
/** The endpoint is looked for whose rows are held. */
const APART: Terms = { ...TOGETHER, lockMs: 20 }

/**
 * Writes attempts, and waits for locks no longer than `lockMs` milliseconds. Returns the ids of the written deliveries,
 * and when each is due again.
 */
export type WriteAttempts = (attempts: readonly Attempt[], lockMs: number) => Promise<ReadonlyMap<string, Date | null>>

export interface RecorderOptions {
  readonly write: WriteAttempts
  /**
   * Called once with each attempt. Where `recorded` has none, another process has recorded an attempt with its number,
   * or its result cannot be written: then the delivery is sent again.
   */
  onSettled(attempts: readonly Attempt[], recorded: ReadonlyMap<string, Date | null>): void
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly limits?: PatienceLimits
}

/**
 * Writes the attempts that end at about the same time in one transaction, one write at a time. Repeats a write
 * that fails for another reason than its values, so that no attempt is lost while the process lives. Halves a batch
 * that PostgreSQL refuses until the refused attempt is alone, and writes that one without its answer: without a stored
 * outcome the delivery would be sent again and again. The attempts of an endpoint whose rows another transaction holds
 * wait apart from all others.
 */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #patience: Patience
  #waiting: Attempt[] = []
  #writing: Promise<void> | undefined
  /** By endpoint, the attempts that wait for another transaction, and whether the last write met it. */
  readonly #held = new Map<string, { attempts: Attempt[]; isMet: boolean }>()
  #writingHeld: Promise<void> | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#patience = new Patience(options.limits ?? LIMITS)
  }

  add(attempt: Attempt): void {
    this.#waiting.push(attempt)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when nothing is left to write. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined || this.#writingHeld !== undefined) {
      await Promise.all([this.#writing, this.#writingHeld])
    }
  }

  async #writeAll(): Promise<void> {
    for (let gathered = pause(LINGER_MS); this.#waiting.length > 0; ) {
      await gathered
      gathered = pause(LINGER_MS)
      const { free = [], held = [] } = Object.groupBy(takeBatch(this.#waiting), ({ job }) =>
        this.#held.has(job.target.id) ? 'held' : 'free',
      )
      for (const attempt of held) this.#held.get(attempt.job.target.id)?.attempts.push(attempt)
      if (free.length > 0) await this.#write(free, TOGETHER)
    }
    // Reset here and not after the promise: an attempt added in between would never be written.
    this.#writing = undefined
  }

  /** Tries again and again to write what waits for other transactions, an endpoint after the other. */
  async #writeHeld(): Promise<void> {
    while (this.#held.size > 0) {
      await pause(HELD_AGAIN_MS)
      for (const [endpointId, held] of [...this.#held]) {
        held.isMet = false
        await this.#write(takeBatch(held.attempts), { name: endpointId, lockMs: 100 })
        if (!held.isMet) this.#letGo(endpointId, held.attempts)
      }
    }
    this.#writingHeld = undefined
  }

  #hold(endpointId: string, attempts: readonly Attempt[]): void {
    this.#patience.failed(endpointId)
    const held = this.#held.get(endpointId)
    if (held !== undefined) {
      held.isMet = true
      held.attempts.unshift(...attempts)
      return
    }
    this.#held.set(endpointId, { attempts: [...attempts], isMet: true })
    this.#options.logger.warn(
      { endpoint_id: endpointId, attempts: attempts.length },
      'another transaction holds rows of an endpoint: its attempts are written later',
    )
    this.#writingHeld ??= this.#writeHeld()
  }

  /** What has gathered meanwhile is written with the attempts of all endpoints again. */
  #letGo(endpointId: string, attempts: readonly Attempt[]): void {
    this.#held.delete(endpointId)
    this.#patience.succeeded(endpointId)
    unwritten.record(this.#patience.longestSeconds())
    for (const attempt of attempts) this.add(attempt)
  }

  async #write(attempts: readonly Attempt[], terms: Terms): Promise<void> {
    const refusal = await this.#tryToWrite(attempts, attempts, terms)
    if (refusal === undefined) return
    if (isLockTimeout(refusal.cause)) return this.#writeApart(attempts)
    const [first, ...more] = attempts
    if (first === undefined) return
    if (more.length === 0) return this.#writeRefused(first, refusal.cause, terms)
    const middle = attempts.length >> 1
    await this.#write(attempts.slice(0, middle), terms)
    await this.#write(attempts.slice(middle), terms)
  }

  /** Writes half of the endpoints at a time, until one is alone whose rows are held: its attempts are written later. */
  async #writeApart(attempts: readonly Attempt[]): Promise<void> {
    const endpoints = [...Map.groupBy(attempts, ({ job }) => job.target.id)]
    const [[endpointId] = [''], ...more] = endpoints
    if (more.length === 0) return this.#hold(endpointId, attempts)
    const middle = endpoints.length >> 1
    for (const half of [endpoints.slice(0, middle), endpoints.slice(middle)]) {
      const some = half.flatMap(([, own]) => own)
      await this.#write(some, APART)
    }
  }

  /** Writes a refused attempt without its answer. */
  async #writeRefused(attempt: Attempt, cause: unknown, terms: Terms): Promise<void> {
    const { logger, onSettled } = this.#options
    unwritable.add(1)
    logger.error({ ...idsOf(attempt), err: cause }, 'PostgreSQL refused an attempt: it is stored without its answer')
    const stored = withoutAnswer(attempt)
    const refusal = await this.#tryToWrite([stored], [attempt], terms)
    if (refusal === undefined) return
    if (isLockTimeout(refusal.cause)) return this.#writeApart([stored])
    logger.error(
      { ...idsOf(attempt), err: refusal.cause },
      'an attempt cannot be written: it is made again in a minute',
    )
    onSettled([attempt], new Map())
  }

  /**
   * Repeats a write of attempts, as they are `stored`, until it succeeds. Returns the error when it would fail again:
   * fewer attempts, attempts without their answers, or the same later, may succeed.
   */
  async #tryToWrite(
    stored: readonly Attempt[],
    attempts: readonly Attempt[],
    { name, lockMs }: Terms,
  ): Promise<{ readonly cause: unknown } | undefined> {
    const { write, onSettled, logger } = this.#options
    for (let failures = 1; ; failures++) {
      let recorded: ReadonlyMap<string, Date | null>
      try {
        recorded = await write(stored, lockMs)
        this.#patience.succeeded(name)
      } catch (cause) {
        if (this.#isRefusal(name, cause, stored)) return { cause }
        if (failures % LOGGED_EVERY === 1) {
          logger.warn({ err: cause, attempts: stored.length, failures }, 'attempts are not written yet')
        }
        await pause(this.#patience.failed(name))
        continue
      } finally {
        unwritten.record(this.#patience.longestSeconds())
      }
      onSettled(attempts, recorded)
      return undefined
    }
  }

  #isRefusal(name: string, error: unknown, attempts: readonly Attempt[]): boolean {
    if (isLockTimeout(error) || (isStatementTimeout(error) && attempts.length > 1)) return true
    const cause = causeOf(error)
    return cause === 'RECORD' || (cause === 'BUG' && this.#patience.isOver(name, error))
  }
}

/** Removes the next attempts to be written from some that wait. */
function takeBatch(waiting: Attempt[]): Attempt[] {
  const [batch = []] = partsOf(waiting.slice(0, BATCH_SIZE), BATCH_BYTES, bytesOf)
  return waiting.splice(0, batch.length)
}

/** About how many bytes of an attempt's answer are written. */
function bytesOf({ exchange: { response } }: Attempt): number {
  if (response === null) return 0
  const headers = Object.entries(response.headers)
  return headers.reduce((sum, [name, value]) => sum + name.length + String(value).length, response.body.length)
}
