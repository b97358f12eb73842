import type { EndpointQueue } from './endpoint-queue.ts'

/** The sums over the queues of a workspace, or over all queues. */
export class Load {
  held = 0
  /** The bytes of the held bodies, and of those for endpoints not known to answer. A shared body counts once. */
  bytes = 0
  unprovenBytes = 0
  /** The held jobs for slow endpoints. */
  heldSlow = 0
  /** Attempts in flight beyond BASE_CONCURRENCY of each endpoint. */
  burst = 0
  /** All others in flight, or not yet recorded. */
  busy = 0
  /** Attempts in flight to slow endpoints, without those of bursts. */
  slow = 0
  /** Attempts in flight that started while their endpoints were not known to answer. */
  unproven = 0
  /** The bytes of the bodies in flight, of each attempt, and those of `unproven`. */
  sending = 0
  unprovenSending = 0
  /** Repeats in flight or not yet recorded, without those to slow endpoints. */
  repeats = 0
  /** By body: its jobs, and those of them to endpoints not known to answer. */
  readonly #bodies = new Map<Buffer, { readonly jobs: number; readonly unproven: number }>()

  /** About how many jobs for endpoints that are not slow wait to be started. */
  get readyJobs(): number {
    return this.held - this.heldSlow - (this.busy + this.burst - this.slow)
  }

  /** Adds the numbers of a queue, or subtracts them: subtract before each change of the queue, and add after it. */
  count(queue: EndpointQueue, sign: 1 | -1): void {
    const { responsiveness } = queue.concurrency
    this.held += sign * queue.held
    this.burst += sign * queue.burst
    this.busy += sign * (queue.busy - queue.burst)
    this.unproven += sign * queue.unproven.size
    this.sending += sign * queue.sending
    this.unprovenSending += sign * queue.unprovenSending
    if (responsiveness === 'slow') {
      this.heldSlow += sign * queue.held
      this.slow += sign * (queue.inFlight - queue.burst)
      return
    }
    this.repeats += sign * queue.busyRepeats
  }

  /** Adds jobs of a body, or subtracts them; `unproven`: those to endpoints not known to answer. */
  countBody(body: Buffer, jobs: number, unproven: number): void {
    const before = this.#bodies.get(body) ?? { jobs: 0, unproven: 0 }
    const after = { jobs: before.jobs + jobs, unproven: before.unproven + unproven }
    if (after.jobs === 0) this.#bodies.delete(body)
    else this.#bodies.set(body, after)
    this.bytes += body.length * (Number(after.jobs > 0) - Number(before.jobs > 0))
    this.unprovenBytes += body.length * (Number(after.unproven > 0) - Number(before.unproven > 0))
  }
}
