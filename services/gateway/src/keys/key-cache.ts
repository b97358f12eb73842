import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { KnownKey } from './find-key.ts'

/** How long a look-up's answer is believed when no change is announced, so the time within which any change is in force. */
const BELIEVED_MS = 5_000
const MAX_KEYS = 10_000

/** Keys remembered by their hash. */
export interface KeyCache {
  /** The key with this hash, looked up at most every 5 s; `now` is in Unix milliseconds. */
  get(hash: string, now: number): KnownKey | undefined | Promise<KnownKey | undefined>
  /** Forgets a workspace's keys; look-ups under way are answered but not kept. */
  forgetWorkspace(workspaceId: string): void
  /** Forgets everything. */
  clear(): void
}

/**
 * Remembers look-ups. Requests that need the same key at once share one look-up. Unknown hashes are remembered apart, so
 * that a flood of invented keys can push no real one out. A key found unchanged stays the same object.
 */
export function keyCache(find: (hash: string) => Promise<KnownKey | undefined>): KeyCache {
  const known = new LRUCache<string, { key: KnownKey; until: number }>({ max: MAX_KEYS })
  const unknown = new LRUCache<string, { until: number }>({ max: MAX_KEYS })
  let underWay = new Map<string, Promise<KnownKey | undefined>>()

  async function lookUp(hash: string, until: number, among: typeof underWay) {
    try {
      const found = await find(hash)
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
      const shared = underWay.get(hash) ?? lookUp(hash, now + BELIEVED_MS, underWay)
      underWay.set(hash, shared)
      return shared
    },
    forgetWorkspace(workspaceId) {
      for (const [hash, { key }] of known.entries()) if (key.caller.workspaceId === workspaceId) known.delete(hash)
      underWay = new Map()
    },
    clear() {
      known.clear()
      unknown.clear()
      underWay = new Map()
    },
  }
}
