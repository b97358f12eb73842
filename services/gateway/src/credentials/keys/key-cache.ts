import { LRUCache } from 'lru-cache'
import type { KnownKey } from './find-keys.ts'

/** A look-up's answer is used for this time unless a change is announced: within it every change is in force. */
const FRESH_MS = 5_000
const MAX_KEYS = 10_000

/** Whether a look-up at a time is recent. One far in the future is not: the clock was set back. */
const isRecent = (at: number, now: number): boolean => Math.abs(now - at) < FRESH_MS

type LookUp = (hash: string) => Promise<KnownKey | undefined>

/** A key as it was looked up, and when that look-up began. */
export interface LookedUpKey {
  readonly key: KnownKey
  readonly at: number
}

/**
 * Keys in memory, by their hash: the answers of look-ups. Unknown hashes are kept apart, so that a flood of invented
 * keys evicts no real one. Times are Unix milliseconds.
 */
export function keyCache() {
  const known = new LRUCache<string, { found: LookedUpKey; isFresh: boolean }>({ max: MAX_KEYS })
  const unknown = new LRUCache<string, { at: number }>({ max: MAX_KEYS })
  let underWay = new Map<string, Promise<LookedUpKey | undefined>>()

  async function keep(hash: string, at: number, find: LookUp, among: typeof underWay) {
    try {
      const key = await find(hash)
      const found = key && { key, at }
      if (among !== underWay) return found // Something has changed since the look-up began.
      if (found === undefined) {
        known.delete(hash)
        unknown.set(hash, { at })
        return undefined
      }
      known.set(hash, { found, isFresh: true })
      return found
    } finally {
      among.delete(hash)
    }
  }

  return {
    /** The key as it was looked up less than 5 s ago: null when there was none, undefined without a look-up. */
    get(hash: string, now: number): LookedUpKey | null | undefined {
      const entry = known.get(hash)
      if (entry?.isFresh && isRecent(entry.found.at, now)) return entry.found
      const refused = unknown.get(hash)
      return refused !== undefined && isRecent(refused.at, now) ? null : undefined
    },
    /** Whether the latest look-up of this hash, however old, found a key. */
    hasFound: (hash: string) => known.has(hash),
    /** Looks the key up, and keeps the answer. Simultaneous calls with one hash share one look-up. */
    lookUp(hash: string, now: number, find: LookUp): Promise<LookedUpKey | undefined> {
      const shared = underWay.get(hash) ?? keep(hash, now, find, underWay)
      underWay.set(hash, shared)
      return shared
    },
    /** Lets a workspace's keys be looked up again. Look-ups under way are answered and not kept. */
    dropWorkspace(workspaceId: string): void {
      for (const entry of known.values()) if (entry.found.key.caller.workspaceId === workspaceId) entry.isFresh = false
      underWay = new Map()
    },
    /** Lets every key be looked up again. */
    clear(): void {
      for (const entry of known.values()) entry.isFresh = false
      unknown.clear()
      underWay = new Map()
    },
  }
}
