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
  /** The wait before slots are taken over from an owner that holds more, in milliseconds; for ever unless given. */
  readonly takeOverMs?: number
}

/** The pause until a waiting request looks again for slots to take over. */
const LOOK_AGAIN_MS = 1000

/** Why a request gets no slot: its owner asks for more than its share, or all owners together ask for too much. */
export type SlotRefusal = 'owner' | 'all'

export interface TakeOptions {
  /** The slots that are taken; one unless given. */
  readonly count?: number
  readonly signal?: AbortSignal
  /** The longest wait, in milliseconds; that of the limits unless given. */
  readonly waitMs?: number
  /**
   * Ends the work when an owner that holds fewer slots takes these over. They are kept as long as it is undefined,
   * which may change while they are held.
   */
  onTakenOver?: ((refusal: Error) => void) | undefined
  /** Whether also an owner that would then hold more takes these over. */
  readonly isForAny?: boolean
}

interface Request {
  readonly owner: string
  readonly count: number
  readonly start: () => void
  readonly options: TakeOptions
}

/**
 * Shares slots fairly. One owner may use all slots but a share, so the next one finds a share free. Waiting owners are
 * served in turn (round robin). A request for more than a share gets one share. Where slots may be taken over, owners
 * that never give theirs back keep nobody from a share as large as theirs, however many they are.
 */
export class FairSlots {
  readonly #limits: SlotLimits & { readonly most: number }
  readonly #refuse: (why: SlotRefusal) => Error
  /** Of each owner the requests with slots, oldest first. */
  readonly #running = new Map<string, Set<Request>>()
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
    const count = Math.min(options.count ?? 1, this.#limits.share)
    const request = { owner, count, start: started.resolve, options }
    if (this.#waiting.isEmpty && this.#mayStart(request)) this.#occupy(request)
    else await this.#wait(request, started, options)
    return () => {
      if (this.#release(request)) this.#startNext()
    }
  }

  /** Runs `work` while it holds a slot. */
  async run<Result>(owner: string, work: () => Promise<Result>, options?: TakeOptions): Promise<Result> {
    const giveBack = await this.take(owner, options)
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

  #occupy(request: Request): void {
    const { owner, count } = request
    this.#held += count
    this.#heldBy.set(owner, this.held(owner) + count)
    this.#running.set(owner, (this.#running.get(owner) ?? new Set()).add(request))
  }

  /** Returns whether the request had its slots still. */
  #release(request: Request): boolean {
    const { owner, count } = request
    const running = this.#running.get(owner)
    if (!running?.delete(request)) return false
    this.#held -= count
    this.#heldBy.set(owner, this.held(owner) - count)
    if (running.size === 0) for (const each of [this.#running, this.#heldBy]) each.delete(owner)
    return true
  }

  /** Starts a waiting request with slots of the owners that hold most, unless it would then hold more than they. */
  #takeOver(request: Request): void {
    const { slots, share } = this.#limits
    if (!this.#isWithin(request, share)) return
    while (this.#held + request.count > slots) {
      const other = this.#oldestOfLargest()
      if (other === undefined || !(other.options.isForAny || this.#leavesAsMuch(other, request))) break
      this.#release(other)
      other.options.onTakenOver?.(this.#refuse('owner'))
    }
    if (this.#held + request.count <= slots) this.#start(request)
    this.#startNext()
  }

  /** Whether an owner that loses the slots of `other` has as many still as the one that gets them. */
  #leavesAsMuch(other: Request, { owner, count }: Request): boolean {
    return this.held(other.owner) - other.count >= this.held(owner) + count
  }

  /** The oldest request whose slots may be taken over, of the owner that holds most. */
  #oldestOfLargest(): Request | undefined {
    let found: Request | undefined
    for (const [owner, requests] of this.#running) {
      if (found === undefined || this.held(owner) > this.held(found.owner)) found = firstTakeable(requests) ?? found
    }
    return found
  }

  /** Serves the owners in turn, as long as there are slots. */
  #startNext(): void {
    for (let request = this.#next(); request !== undefined; request = this.#next()) this.#start(request)
  }

  #start(request: Request): void {
    this.#waiting.serve(request.owner, request)
    this.#occupy(request)
    request.start()
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
    let stopLooking: (() => void) | undefined
    const lookAfter = (ms: number) => {
      stopLooking = deadline(ms, () => {
        lookAfter(LOOK_AGAIN_MS)
        this.#takeOver(request)
      })
    }
    const { takeOverMs } = this.#limits
    if (takeOverMs !== undefined) lookAfter(takeOverMs)
    const onAbort = () => giveUp(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    // The requests that wait already may exceed their share, while this one is within its own and may start.
    this.#startNext()
    await promise.finally(() => {
      inTime()
      stopLooking?.()
      signal?.removeEventListener('abort', onAbort)
    })
  }
}

function firstTakeable(requests: Iterable<Request>): Request | undefined {
  for (const request of requests) if (request.options.onTakenOver !== undefined) return request
  return undefined
}
