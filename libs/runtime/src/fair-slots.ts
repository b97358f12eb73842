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
  /** So many slots of an owner stay free for a key of it that holds fewer than others; none unless given. */
  readonly keyShare?: number
  /** The most requests of one key that wait, and half of those of one owner. */
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
  /** Which key of its owner asks; an owner without keys has one. */
  readonly key?: string | undefined
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
  /** Whether another owner takes these over also when it then holds more. */
  readonly isForAny?: boolean
}

interface Request {
  readonly owner: string
  readonly key: string
  readonly count: number
  readonly start: () => void
  readonly options: TakeOptions
}

/**
 * Shares slots fairly. One owner may use all slots but a share, so the next one finds a share free. Waiting owners are
 * served in turn (round robin), and of an owner the key that holds fewest slots. A request for more than a share gets
 * one share. Where slots may be taken over, an owner that holds several gives its oldest to one that would then hold no
 * more than it keeps.
 */
export class FairSlots {
  readonly #limits: SlotLimits & { readonly most: number; readonly keyShare: number }
  readonly #refuse: (why: SlotRefusal) => Error
  /** Of each owner the requests with slots, oldest first. */
  readonly #running = new Map<string, Set<Request>>()
  readonly #heldBy = new Map<string, number>()
  /** By owner and key. */
  readonly #heldByKey = new Map<string, number>()
  /** Of each owner, by its keys. The first owner is the next in turn. */
  readonly #waiting = new Map<string, RoundRobin<Request>>()
  #held = 0

  constructor(limits: SlotLimits, refuse: (why: SlotRefusal) => Error) {
    this.#limits = { most: limits.slots - limits.share, keyShare: 0, ...limits }
    this.#refuse = refuse
  }

  /** Returns the function that gives the slots back. Throws the error of `refuse`, or the reason of `signal`. */
  async take(owner: string, options: TakeOptions = {}): Promise<() => void> {
    options.signal?.throwIfAborted()
    const started = Promise.withResolvers<void>()
    const count = Math.min(options.count ?? 1, this.#limits.share)
    const request = { owner, key: options.key ?? '', count, start: started.resolve, options }
    if (this.#waiting.size === 0 && this.#mayStart(request)) this.#occupy(request)
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
    const { slots, share, most, keyShare } = this.#limits
    if (this.#heldByKeyOf(request) + request.count > Math.max(most - keyShare, share)) return false
    if (this.#isWithin(request, share)) return this.#held + request.count <= slots
    return this.#isWithin(request, Math.max(most, share)) && this.#held + request.count <= slots - share
  }

  #heldByKeyOf(request: Request): number {
    return this.#heldByKey.get(keyOf(request)) ?? 0
  }

  #occupy(request: Request): void {
    const { owner, count } = request
    this.#held += count
    this.#heldBy.set(owner, this.held(owner) + count)
    this.#heldByKey.set(keyOf(request), this.#heldByKeyOf(request) + count)
    this.#running.set(owner, (this.#running.get(owner) ?? new Set()).add(request))
  }

  /** Returns whether the request had its slots still. */
  #release(request: Request): boolean {
    const { owner, count } = request
    const running = this.#running.get(owner)
    if (!running?.delete(request)) return false
    this.#held -= count
    this.#heldBy.set(owner, this.held(owner) - count)
    const heldByKey = this.#heldByKeyOf(request) - count
    if (heldByKey > 0) this.#heldByKey.set(keyOf(request), heldByKey)
    else this.#heldByKey.delete(keyOf(request))
    if (running.size === 0) for (const each of [this.#running, this.#heldBy]) each.delete(owner)
    return true
  }

  /** Starts a waiting request with slots of the owners that hold most. Ends nothing where those do not suffice. */
  #takeOver(request: Request): void {
    if (!this.#isWithin(request, this.#limits.share)) return
    const victims = this.#victimsFor(request)
    if (victims === undefined) return
    for (const victim of victims) {
      this.#release(victim)
      victim.options.onTakenOver?.(this.#refuse('owner'))
    }
    this.#start(request)
    this.#startNext()
  }

  /**
   * The requests whose slots suffice for `request`; undefined where none do. Unless they are `isForAny`, their owner
   * keeps at least as many slots as the waiting one then holds. So the only request of an owner is never among them.
   */
  #victimsFor(request: Request): Set<Request> | undefined {
    const victims = new Set<Request>()
    const kept = new Map(this.#heldBy)
    const keptOf = ({ owner, count }: Request) => (kept.get(owner) ?? 0) - count
    const needed = this.held(request.owner) + request.count
    const mayEnd = (one: Request) =>
      !victims.has(one) && one.options.onTakenOver !== undefined && (one.options.isForAny || keptOf(one) >= needed)
    let held = this.#held
    while (held + request.count > this.#limits.slots) {
      const victim = this.#oldestOfLargest(request.owner, kept, mayEnd)
      if (victim === undefined) return undefined
      kept.set(victim.owner, keptOf(victim))
      held -= victim.count
      victims.add(victim)
    }
    return victims
  }

  /** The oldest request that may be ended, of the other owner that keeps most. */
  #oldestOfLargest(but: string, kept: ReadonlyMap<string, number>, mayEnd: (one: Request) => boolean) {
    let found: Request | undefined
    const keptBy = (owner: string) => kept.get(owner) ?? 0
    for (const [owner, requests] of this.#running) {
      if (owner === but || (found !== undefined && keptBy(owner) <= keptBy(found.owner))) continue
      found = [...requests].find(mayEnd) ?? found
    }
    return found
  }

  /** Serves the owners in turn, as long as there are slots. */
  #startNext(): void {
    for (let request = this.#next(); request !== undefined; request = this.#next()) this.#start(request)
  }

  #start(request: Request): void {
    const { owner, key } = request
    const keys = this.#waiting.get(owner)
    keys?.serve(key, request)
    this.#waiting.delete(owner)
    if (keys?.isEmpty === false) this.#waiting.set(owner, keys)
    this.#occupy(request)
    request.start()
  }

  /** Takes a request that waits no longer out of the queue: its owner keeps its turn. */
  #leave(request: Request): void {
    const keys = this.#waiting.get(request.owner)
    keys?.remove(request.key, request)
    if (keys?.isEmpty) this.#waiting.delete(request.owner)
  }

  #next(): Request | undefined {
    for (const keys of this.#waiting.values()) {
      const request = this.#firstOf(keys)
      if (this.#mayStart(request)) return request
      // This request gets the slots that are freed next. Otherwise smaller requests would overtake it again and again.
      if (this.#isWithin(request, this.#limits.share)) return undefined
    }
    return undefined
  }

  /** The first request of the key that holds fewest slots; of several such keys, of the next in turn. */
  #firstOf(keys: RoundRobin<Request>): Request {
    const firsts = [...keys].map(([, first]) => first)
    return firsts.reduce((found, one) => (this.#heldByKeyOf(one) < this.#heldByKeyOf(found) ? one : found))
  }

  async #wait(
    request: Request,
    { promise, reject }: PromiseWithResolvers<void>,
    { signal, waitMs = this.#limits.waitMs }: TakeOptions,
  ): Promise<void> {
    const refusal = () => this.#refuse(this.#isWithin(request, this.#limits.share) ? 'all' : 'owner')
    const { owner, key } = request
    const { waiting, takeOverMs } = this.#limits
    const keys = this.#waiting.get(owner) ?? new RoundRobin()
    if (keys.of(key).size >= waiting || keys.size >= 2 * waiting) throw refusal()
    keys.add(key, request)
    this.#waiting.set(owner, keys)
    const giveUp = (error: unknown) => {
      this.#leave(request)
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

const keyOf = ({ owner, key }: Request) => `${owner} ${key}`
