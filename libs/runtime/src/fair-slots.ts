import { deadline } from './deadline.ts'
import { RoundRobin } from './round-robin.ts'

/** How slots are shared among owners: workspaces, or the addresses of clients. */
export interface SlotLimits {
  /** Slots in all. */
  readonly slots: number
  /** The share of an owner: so many slots stay free for an owner that holds fewer than its share. */
  readonly share: number
  /** The most slots of one owner, however many are free; `slots - share` unless given. */
  readonly most?: number
  /** The most requests of one owner that wait. */
  readonly waiting: number
  /** The longest wait for a slot, in milliseconds. */
  readonly waitMs: number
}

/** Why a request gets no slot: its owner asks for more than its share, or all owners together ask for too much. */
export type SlotRefusal = 'owner' | 'all'

interface TakeOptions {
  /** The slots that are taken; one unless given. */
  readonly count?: number
  readonly signal?: AbortSignal
  /** The longest wait, in milliseconds; that of the limits unless given. */
  readonly waitMs?: number
}

interface Request {
  readonly owner: string
  readonly count: number
  readonly start: () => void
}

/**
 * Shares slots fairly. One owner may use all slots but a share, so the next one finds a share free. Waiting owners are
 * served in turn (round robin). A request for more than a share gets one share.
 */
export class FairSlots {
  readonly #limits: Required<SlotLimits>
  readonly #refuse: (why: SlotRefusal) => Error
  readonly #heldBy = new Map<string, number>()
  readonly #waiting = new RoundRobin<Request>()
  #held = 0

  constructor(limits: SlotLimits, refuse: (why: SlotRefusal) => Error) {
    this.#limits = { most: limits.slots - limits.share, ...limits }
    this.#refuse = refuse
  }

  /** Returns the function that gives the slots back. Throws the error of `refuse`, or the reason of `signal`. */
  async take(owner: string, options: TakeOptions = {}): Promise<() => void> {
    options.signal?.throwIfAborted()
    const started = Promise.withResolvers<void>()
    const request = { owner, count: Math.min(options.count ?? 1, this.#limits.share), start: started.resolve }
    if (this.#waiting.isEmpty && this.#mayStart(request)) this.#occupy(request)
    else await this.#wait(request, started, options)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(request)
      isHeld = false
    }
  }

  /** Runs `work` while it holds a slot. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    const giveBack = await this.take(owner)
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /** The slots that `owner` holds; those of all owners unless given. */
  held(owner?: string): number {
    return owner === undefined ? this.#held : (this.#heldBy.get(owner) ?? 0)
  }

  #isWithin({ owner, count }: Request, most: number): boolean {
    return this.held(owner) + count <= most
  }

  #mayStart(request: Request): boolean {
    const { slots, share, most } = this.#limits
    if (this.#isWithin(request, share)) return this.#held + request.count <= slots
    return this.#isWithin(request, Math.max(most, share)) && this.#held + request.count <= slots - share
  }

  #occupy({ owner, count }: Request): void {
    this.#held += count
    this.#heldBy.set(owner, this.held(owner) + count)
  }

  #release({ owner, count }: Request): void {
    this.#held -= count
    const left = this.held(owner) - count
    if (left > 0) this.#heldBy.set(owner, left)
    else this.#heldBy.delete(owner)
    this.#startNext()
  }

  /** Serves the owners in turn, as long as there are slots. */
  #startNext(): void {
    for (let request = this.#next(); request !== undefined; request = this.#next()) {
      this.#waiting.serve(request.owner, request)
      this.#occupy(request)
      request.start()
    }
  }

  #next(): Request | undefined {
    for (const [, request] of this.#waiting) {
      if (this.#mayStart(request)) return request
      // This request gets the slots that are freed next. Otherwise smaller requests would overtake it again and again.
      if (this.#isWithin(request, this.#limits.share)) return undefined
    }
    return undefined
  }

  async #wait(
    request: Request,
    { promise, reject }: PromiseWithResolvers<void>,
    { signal, waitMs = this.#limits.waitMs }: TakeOptions,
  ): Promise<void> {
    const refusal = () => this.#refuse(this.#isWithin(request, this.#limits.share) ? 'all' : 'owner')
    if (this.#waiting.of(request.owner).size >= this.#limits.waiting) throw refusal()
    this.#waiting.add(request.owner, request)
    const giveUp = (error: unknown) => {
      this.#waiting.remove(request.owner, request)
      reject(error)
      // Smaller requests may have waited behind this one.
      this.#startNext()
    }
    const inTime = deadline(waitMs, () => giveUp(refusal()))
    const onAbort = () => giveUp(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    // The requests that wait already may exceed their share, while this one is within its own and may start.
    this.#startNext()
    await promise.finally(() => {
      inTime()
      signal?.removeEventListener('abort', onAbort)
    })
  }
}
