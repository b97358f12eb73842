import { deadline } from './deadline.ts'

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

export interface FairSlots {
  /**
   * Resolves with the function that gives the slots back, once they are free. Rejects with the error of `refuse`, or
   * with the reason of `signal` when it aborts before.
   */
  take(owner: string, options?: TakeOptions): Promise<() => void>
  /** Runs `work` while it holds a slot. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result>
  /** The slots that `owner` holds; those of all owners unless given. */
  held(owner?: string): number
}

interface Request {
  readonly owner: string
  readonly count: number
  readonly start: () => void
}

/**
 * Shares slots fairly. A single owner may use all slots but one share, so the next owner finds a share free. Waiting
 * owners are served in turn (round robin), and the requests of one owner in their order. A request for more than a
 * share gets one share.
 */
export function fairSlots(limits: SlotLimits, refuse: (why: SlotRefusal) => Error): FairSlots {
  const { slots, share, most = slots - share } = limits
  const heldBy = new Map<string, number>()
  /** The waiting requests of each owner. The first owner is the next in turn. */
  const queues = new Map<string, Set<Request>>()
  let held = 0

  const isWithinShare = ({ owner, count }: Request) => (heldBy.get(owner) ?? 0) + count <= share
  const isWithinMost = ({ owner, count }: Request) => (heldBy.get(owner) ?? 0) + count <= Math.max(most, share)

  function mayStart(request: Request): boolean {
    if (isWithinShare(request)) return held + request.count <= slots
    return isWithinMost(request) && held + request.count <= slots - share
  }

  function occupy({ owner, count }: Request): void {
    held += count
    heldBy.set(owner, (heldBy.get(owner) ?? 0) + count)
  }

  function release({ owner, count }: Request): void {
    held -= count
    const left = (heldBy.get(owner) ?? 0) - count
    if (left > 0) heldBy.set(owner, left)
    else heldBy.delete(owner)
    startNext()
  }

  function leave(request: Request): void {
    const queue = queues.get(request.owner)
    queue?.delete(request)
    if (queue?.size === 0) queues.delete(request.owner)
  }

  /** Serves the owners in turn, as long as there are slots. */
  function startNext(): void {
    for (let request = next(); request !== undefined; request = next()) {
      const queue = queues.get(request.owner)
      leave(request)
      // Its owner goes to the end.
      if (queue !== undefined && queue.size > 0) {
        queues.delete(request.owner)
        queues.set(request.owner, queue)
      }
      occupy(request)
      request.start()
    }
  }

  function next(): Request | undefined {
    for (const [request] of queues.values()) {
      if (request === undefined) continue
      if (mayStart(request)) return request
      // This request gets the slots that are freed next. Otherwise smaller requests would overtake it again and again.
      if (isWithinShare(request)) return undefined
    }
    return undefined
  }

  async function wait(owner: string, count: number, { signal, waitMs = limits.waitMs }: TakeOptions): Promise<Request> {
    const queue = queues.get(owner) ?? new Set<Request>()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const request = { owner, count, start: resolve }
    if (queue.size >= limits.waiting) throw refuse(isWithinShare(request) ? 'all' : 'owner')
    queues.set(owner, queue.add(request))
    const giveUp = (error: unknown) => {
      leave(request)
      reject(error)
      // Smaller requests may have waited behind this one.
      startNext()
    }
    const inTime = deadline(waitMs, () => giveUp(refuse(isWithinShare(request) ? 'all' : 'owner')))
    const onAbort = () => giveUp(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    // The requests that wait already may exceed their share, while this one is within its own and may start.
    startNext()
    await promise.finally(() => {
      inTime()
      signal?.removeEventListener('abort', onAbort)
    })
    return request
  }

  async function acquire(owner: string, count: number, options: TakeOptions): Promise<Request> {
    options.signal?.throwIfAborted()
    const request = { owner, count, start: () => undefined }
    if (queues.size > 0 || !mayStart(request)) return wait(owner, count, options)
    occupy(request)
    return request
  }

  async function take(owner: string, options: TakeOptions = {}) {
    const request = await acquire(owner, Math.min(options.count ?? 1, share), options)
    let isHeld = true
    return () => {
      if (isHeld) release(request)
      isHeld = false
    }
  }

  return {
    take,
    async run(owner, work) {
      const giveBack = await take(owner)
      try {
        return await work()
      } finally {
        giveBack()
      }
    },
    held: (owner) => (owner === undefined ? held : (heldBy.get(owner) ?? 0)),
  }
}
