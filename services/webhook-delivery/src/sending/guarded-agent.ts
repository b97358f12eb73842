import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { BlockedAddress } from './failure.ts'
import { hostOf, isAllowedAddress, type TargetPolicy } from './target-address.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Finds all addresses of a name, as `dns.lookup` does. */
export type LookupAll = (
  name: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const systemLookup: LookupAll = (name, callback) => lookup(name, { all: true }, callback)

/**
 * An HTTP client that connects to allowed addresses only (OP-70): every connection's address is checked as it is made,
 * a literal one as well as those a name resolves to at that moment, so a name that changes its answer gains nothing. It
 * follows no redirects and sets no time limits of its own beyond 10 s to connect.
 */
export function guardedAgent(policy: TargetPolicy, lookupAll: LookupAll = systemLookup): Agent {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: guardedLookup(policy, lookupAll),
  })
  return new Agent({
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      // A literal address is connected to without a lookup.
      const host = hostOf(options.hostname)
      if (isIP(host) && !isAllowedAddress(host, policy)) return callback(new BlockedAddress(host), null)
      connect(options, callback)
    },
  })
}

/** A name with one forbidden address is refused whole: the client must not choose which one it gets. */
const guardedLookup =
  (policy: TargetPolicy, lookupAll: LookupAll): LookupFunction =>
  (name, { all }, callback) => {
    lookupAll(name, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || first === undefined) return callback(error ?? new Error(`${name} has no address`), [])
      const isAllowed = addresses.every(({ address }) => isAllowedAddress(address, policy))
      if (!isAllowed) return callback(new BlockedAddress(name), [])
      if (all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
