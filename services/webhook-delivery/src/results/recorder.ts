import { setTimeout as pause } from 'node:timers/promises'
import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import { Patience, type PatienceLimits } from '@backoffice/messaging/consumers/patience.ts'
import { isLockTimeout, isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter, gauge } from '@backoffice/runtime/metrics.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { type Attempt, withoutAnswer } from '../sending/attempt.ts'
import { idsOf } from './note-attempt.ts'

const unwritable = counter('webhook_attempts_unwritable', 'Attempts that PostgreSQL refused, or that a write left out')
for (const reason of ['refused', 'left out']) unwritable.add(0, { reason })
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

const NO_RESULTS: ReadonlyMap<string, Date | null> = new Map()

/**
 * Writes attempts, and waits for locks no longer than `lockMs` milliseconds. Returns the ids of the written deliveries,
 * and when each is due again.
 */
export type WriteAttempts = (attempts: readonly Attempt[], lockMs: number) => Promise<ReadonlyMap<string, Date | null>>

export interface RecorderOptions {
  readonly write: WriteAttempts
  /** Returns the ids of the deliveries that still wait for their results. */
  findOpen(attempts: readonly Attempt[]): Promise<Pick<ReadonlySet<string>, 'has'>>
  /** Called once with each attempt whose delivery has a result. Another write made it where `recorded` has none. */
  onWritten(attempts: readonly Attempt[], recorded: ReadonlyMap<string, Date | null>): void
  /** Called once with each attempt whose result cannot be written: the delivery is sent again. */
  onUnwritable(attempts: readonly Attempt[]): void
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly limits?: PatienceLimits
}

/**
 * Writes the attempts that end at about the same time in one transaction, one write at a time. Repeats a write
 * that fails for another reason than its values, so that no attempt is lost while the process lives. Halves a batch
 * that PostgreSQL refuses until the refused attempt is alone, and writes that one without its answer: without a stored
 * outcome the delivery would be sent again and again. Writes once more what a write has left out. The attempts of an
 * endpoint whose rows another transaction holds wait apart from all others.
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
      if (free.length > 0) await this.#writeBatch(free, TOGETHER)
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
        await this.#writeBatch(takeBatch(held.attempts), { name: endpointId, lockMs: 100 })
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

  async #writeBatch(attempts: readonly Attempt[], terms: Terms): Promise<void> {
    const others = await this.#write(attempts, terms)
    const leftOut = others.length === 0 ? [] : await this.#findLeftOut(others, terms)
    if (leftOut.length === 0) return
    unwritable.add(leftOut.length, { reason: 'left out' })
    this.#options.logger.error({ attempts: leftOut.map(idsOf) }, 'a write left out attempts: it is repeated')
    this.#giveUp(await this.#write(leftOut, terms))
  }

  /** Writes attempts. Returns those that were not written: their deliveries may have results already. */
  async #write(attempts: readonly Attempt[], terms: Terms): Promise<readonly Attempt[]> {
    const others = await this.#writeAs(attempts, attempts, terms)
    if (!(others instanceof Refused)) return others
    if (isLockTimeout(others.cause)) return this.#writeApart(attempts)
    const [first, ...more] = attempts
    if (first === undefined) return []
    if (more.length === 0) return this.#writeRefused(first, others.cause, terms)
    const middle = attempts.length >> 1
    const [before, after] = [attempts.slice(0, middle), attempts.slice(middle)]
    return [...(await this.#write(before, terms)), ...(await this.#write(after, terms))]
  }

  /** Writes half of the endpoints at a time, until one is alone whose rows are held: its attempts are written later. */
  async #writeApart(attempts: readonly Attempt[]): Promise<readonly Attempt[]> {
    const endpoints = [...Map.groupBy(attempts, ({ job }) => job.target.id)]
    const [[endpointId] = [''], ...more] = endpoints
    if (more.length === 0) {
      this.#hold(endpointId, attempts)
      return []
    }
    const middle = endpoints.length >> 1
    const others: Attempt[] = []
    for (const half of [endpoints.slice(0, middle), endpoints.slice(middle)]) {
      const some = half.flatMap(([, own]) => own)
      others.push(...(await this.#write(some, APART)))
    }
    return others
  }

  /** Writes a refused attempt without its answer. */
  async #writeRefused(attempt: Attempt, cause: unknown, terms: Terms): Promise<readonly Attempt[]> {
    unwritable.add(1, { reason: 'refused' })
    this.#options.logger.error(
      { ...idsOf(attempt), err: cause },
      'PostgreSQL refused an attempt: it is stored without its answer',
    )
    const stored = withoutAnswer(attempt)
    const others = await this.#writeAs([stored], [attempt], terms)
    if (!(others instanceof Refused)) return others
    return isLockTimeout(others.cause) ? this.#writeApart([stored]) : this.#giveUp([attempt], others.cause)
  }

  /** Writes attempts as they are `stored`. Returns those that were not written. */
  async #writeAs(
    stored: readonly Attempt[],
    attempts: readonly Attempt[],
    { name, lockMs }: Terms,
  ): Promise<readonly Attempt[] | Refused> {
    const recorded = await this.#untilDoneOrRefused(name, stored, () => this.#options.write(stored, lockMs))
    if (recorded instanceof Refused) return recorded
    const [written, others] = parted(attempts, recorded)
    if (written.length > 0) this.#options.onWritten(written, recorded)
    return others
  }

  /** Returns those of some attempts that were not written whose deliveries still wait for a result. */
  async #findLeftOut(attempts: readonly Attempt[], { name }: Terms): Promise<readonly Attempt[]> {
    const open = await this.#untilDoneOrRefused(name, attempts, () => this.#options.findOpen(attempts))
    if (open instanceof Refused) return this.#giveUp(attempts, open.cause)
    const [leftOut, others] = parted(attempts, open)
    if (others.length > 0) this.#options.onWritten(others, NO_RESULTS)
    return leftOut
  }

  /** Returns that nothing is left to write of these attempts. */
  #giveUp(attempts: readonly Attempt[], cause?: unknown): readonly Attempt[] {
    if (attempts.length === 0) return []
    this.#options.logger.error(
      { attempts: attempts.map(idsOf), err: cause },
      'attempts cannot be written: they are made again in a minute',
    )
    this.#options.onUnwritable(attempts)
    return []
  }

  /**
   * Repeats a statement until it succeeds. Returns Refused when it would fail again: fewer attempts, attempts without
   * their answers, or the same later, may succeed.
   */
  async #untilDoneOrRefused<Result>(
    name: string,
    attempts: readonly Attempt[],
    statement: () => Promise<Result>,
  ): Promise<Result | Refused> {
    for (let failures = 1; ; failures++) {
      try {
        const result = await statement()
        this.#patience.succeeded(name)
        return result
      } catch (error) {
        if (this.#isRefusal(name, error, attempts)) return new Refused(error)
        if (failures % LOGGED_EVERY === 1) {
          this.#options.logger.warn({ err: error, attempts: attempts.length, failures }, 'attempts are not written yet')
        }
        await pause(this.#patience.failed(name))
      } finally {
        unwritten.record(this.#patience.longestSeconds())
      }
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

/** The attempts whose deliveries are `among` some, and the others. */
function parted(attempts: readonly Attempt[], among: { has(deliveryId: string): boolean }): [Attempt[], Attempt[]] {
  const { in: found = [], out = [] } = Object.groupBy(attempts, ({ job }) => (among.has(job.deliveryId) ? 'in' : 'out'))
  return [found, out]
}

/** The cause is the error of the statement. */
class Refused {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}
