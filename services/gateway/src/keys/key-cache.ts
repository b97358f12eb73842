import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { KnownKey } from './find-keys.ts'

/** A look-up's answer is used for this time unless a change is announced: within it every change is in force. */
const FRESH_MS = 5_000
const MAX_KEYS = 10_000

type LookUp = (hash: string) => Promise<KnownKey | undefined>

/** The look-ups of keys that were found before, and of all others. */
interface LookUps {
  readonly ofKnown: LookUp
  readonly ofOthers: LookUp
}

/** Keys in memory, by their hash. */
export interface KeyCache {
  /** The key with this hash, looked up at most every 5 s; `now` is in Unix milliseconds. */
  get(hash: string, now: number): KnownKey | undefined | Promise<KnownKey | undefined>
  /** Lets a workspace's keys be looked up again. Look-ups under way are answered and not kept. */
  dropWorkspace(workspaceId: string): void
  /** Lets every key be looked up again. */
  clear(): void
}

/**
 * Keeps the results of look-ups. Simultaneous requests with one key share one look-up. Unknown hashes are kept apart, so that
 * a flood of invented keys evicts no real one. A key that is found unchanged stays the same object.
 */
export function keyCache({ ofKnown, ofOthers }: LookUps): KeyCache {
  const known = new LRUCache<string, { key: KnownKey; until: number }>({ max: MAX_KEYS })
  const unknown = new LRUCache<string, { until: number }>({ max: MAX_KEYS })
  let underWay = new Map<string, Promise<KnownKey | undefined>>()

  async function lookUp(hash: string, until: number, among: typeof underWay) {
    try {
      const found = await (known.has(hash) ? ofKnown(hash) : ofOthers(hash))
      if (among !== underWay) return found // Something has changed since the look-up began.
      if (found === undefined) {
        known.delete(hash)
        unknown.set(hash, { until })
        return undefined
      }
      const former = known.get(hash)?.key
      const key = former !== undefined && isDeepStrictEqual(former, found) ? former : found
      known.set(hash, { key, until })
      return key
    } finally {
      among.delete(hash)
    }
  }

  return {
    get(hash, now) {
      const entry = known.get(hash)
      if (entry !== undefined && entry.until > now) return entry.key
      if ((unknown.get(hash)?.until ?? 0) > now) return undefined
      const shared = underWay.get(hash) ?? lookUp(hash, now + FRESH_MS, underWay)
      underWay.set(hash, shared)
      return shared
    },
    dropWorkspace(workspaceId) {
      for (const entry of known.values()) if (entry.key.caller.workspaceId === workspaceId) entry.until = 0
      underWay = new Map()
    },
    clear() {
      for (const entry of known.values()) entry.until = 0
      unknown.clear()
      underWay = new Map()
    },
  }
}
