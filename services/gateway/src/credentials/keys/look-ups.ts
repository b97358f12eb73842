import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { clientOf } from '../client-address.ts'
import type { KnownKey } from './find-keys.ts'

/** Keys that one statement looks up. */
const BATCH_SIZE = 500
/** Statements under way: a second one, since the first may be stuck on a dead connection. */
export const LOOK_UP_CONCURRENCY = 2
/** Hashes that wait at most. One more is refused at once. */
const MAX_WAITING = 5_000
/** The longest wait for a slot, and for an answer, unless a test says otherwise; in milliseconds. */
const WITHIN_MS = 2_000

type Answer = PromiseWithResolvers<KnownKey | undefined>
type FindKeys = (hashes: string[]) => Promise<ReadonlyMap<string, KnownKey>>

/**
 * Looks keys up by their hashes, at once while fewer than two statements run. Hashes that come meanwhile wait, and the
 * next statement takes up to 500 of them: a flood of keys costs few statements. Throws `service_unavailable` when 5,000
 * hashes wait already, and ETIMEDOUT without an answer within `withinMs`, 2 s: a statement that hangs gives its place
 * to the next.
 */
export function batchedLookUps(find: FindKeys, withinMs = WITHIN_MS): (hash: string) => Promise<KnownKey | undefined> {
  const waiting = new Map<string, Answer>()
  let running = 0

  async function run() {
    running++
    while (waiting.size > 0) {
      await answerAll(takeBatch())
    }
    running--
  }

  function takeBatch() {
    const batch = [...waiting].slice(0, BATCH_SIZE)
    for (const [hash] of batch) waiting.delete(hash)
    return batch
  }

  async function answerAll(batch: readonly (readonly [string, Answer])[]) {
    try {
      const found = await answerWithin(withinMs, find(batch.map(([hash]) => hash)))
      for (const [hash, answer] of batch) answer.resolve(found.get(hash))
    } catch (error) {
      for (const [, answer] of batch) answer.reject(error)
    }
  }

  return (hash) => {
    const same = waiting.get(hash)
    if (same !== undefined) return same.promise
    if (waiting.size >= MAX_WAITING) return Promise.reject(refusal('all'))
    const { promise, resolve, reject } = Promise.withResolvers<KnownKey | undefined>()
    const answer: Answer = { promise: answerWithin(withinMs, promise).finally(forget), resolve, reject }
    waiting.set(hash, answer)
    if (running < LOOK_UP_CONCURRENCY) void run()
    return answer.promise

    /** Removes a hash that still waits after its time: nobody waits for the answer any more. */
    function forget() {
      if (waiting.get(hash) === answer) waiting.delete(hash)
    }
  }
}

/**
 * The limits of look-ups of unverified keys under way; a few statements serve them all. A single client gets all slots
 * but ten. Each client has a queue of its own, and clients get slots round robin.
 */
const LIMITS = { slots: 50, share: 10, waiting: 100 }
/** Look-ups of unverified keys of all clients that wait or are under way. */
const MAX_UNVERIFIED = 1_000

/**
 * Looks up keys that anybody may have made. `findKeys` has a small pool of its own: other keys are looked up over
 * another one, so that invented keys delay none of them. Throws `rate_limited` when the client's queue is full, and
 * `service_unavailable` when the queues of all clients are.
 */
export function unverifiedLookUps(findKeys: FindKeys, withinMs = WITHIN_MS) {
  const slots = new FairSlots({ ...LIMITS, waitMs: withinMs }, refusal)
  const find = batchedLookUps(findKeys, withinMs)
  let waiting = 0
  return async (hash: string, address: string): Promise<KnownKey | undefined> => {
    if (waiting === MAX_UNVERIFIED) throw refusal('all')
    waiting++
    try {
      return await slots.run(clientOf(address), () => find(hash))
    } finally {
      waiting--
    }
  }
}

const refusal = slotRefusals({
  owner: 'This address sends too many unknown API keys; try again in 1 s',
  all: 'Too many API keys wait to be checked; try again shortly',
})
