import { isIP, type LookupFunction } from 'node:net'

/** Finds a name's addresses, at least one. Throws `SendingError` when it has none. */
export type FindAddresses = (name: string) => Promise<readonly string[]>

/** A name's addresses, and for how many seconds they hold. */
export interface Answer {
  readonly addresses: readonly string[]
  readonly ttl: number
}

/** Seconds: the least and the most that an answer is kept, whatever its TTL, and the time that a failure is kept. */
const KEPT_AT_LEAST = 1
const KEPT_AT_MOST = 300
export const FAILURE_KEPT = 5
const NAMES_AT_MOST = 10_000

interface Entry {
  readonly addresses: Promise<readonly string[]>
  /** Milliseconds of the clock; infinite while the answer is awaited. */
  until: number
}

/** Keeps the addresses of names as their TTL says (OP-99), and failures. Calls during a lookup share its result. */
export class NameCache {
  readonly #entries = new Map<string, Entry>()
  readonly #ask: (name: string) => Promise<Answer>
  readonly #now: () => number

  constructor(ask: (name: string) => Promise<Answer>, now: () => number = () => performance.now()) {
    this.#ask = ask
    this.#now = now
  }

  readonly find: FindAddresses = (name) => {
    const key = name.toLowerCase().replace(/\.$/, '')
    const known = this.#entries.get(key)
    if (known !== undefined && known.until > this.#now()) return known.addresses
    this.#entries.delete(key)
    const asked = this.#ask(key)
    const entry = { addresses: asked.then(({ addresses }) => addresses), until: Number.POSITIVE_INFINITY }
    const keepFor = (seconds: number) => {
      entry.until = this.#now() + seconds * 1000
    }
    asked.then(
      ({ ttl }) => keepFor(Math.min(Math.max(ttl, KEPT_AT_LEAST), KEPT_AT_MOST)),
      () => keepFor(FAILURE_KEPT),
    )
    this.#makeRoom()
    this.#entries.set(key, entry)
    return entry.addresses
  }

  #makeRoom(): void {
    if (this.#entries.size < NAMES_AT_MOST) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}

/**
 * Makes the `lookup` function for `net.connect`, which connects to the addresses that it returns and to no other. Node
 * asks for all of them, since it tries one after the other.
 */
export const lookupWith =
  (find: FindAddresses): LookupFunction =>
  (name, _options, callback) => {
    const found = (addresses: readonly string[]) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      )
    // In a turn of its own, so that an error of the callback does not count as a failed lookup.
    find(name).then(
      (addresses) => setImmediate(found, addresses),
      (error) => setImmediate(callback, error, []),
    )
  }
