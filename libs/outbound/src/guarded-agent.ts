import { Agent } from 'undici'
import { guardedConnector } from './guarded-connect.ts'
import { type KeepLimits, KeptConnections } from './kept-connections.ts'
import type { FindAddresses } from './name-cache.ts'
import { targetNames } from './name-servers.ts'
import { OriginConnections } from './origin-connections.ts'
import { tunnelThrough } from './proxy-tunnel.ts'
import type { TargetPolicy } from './target-address.ts'

/** No longer than a DNS answer, so that a changed address is noticed under constant traffic too. */
const KEEP: KeepLimits = { perOrigin: 512, inAll: 768, ageMs: 300_000 }

interface Egress {
  readonly find?: FindAddresses
  /** An http or https proxy that all requests go through, with its credentials. */
  readonly proxy?: URL | undefined
  readonly keep?: KeepLimits
}

/**
 * An HTTP client that connects to allowed addresses only (OP-70) and follows no redirects. It limits the time to
 * connect, and no other (OP-99).
 */
export function guardedAgent(
  policy: TargetPolicy,
  { find = targetNames.find, proxy, keep = KEEP }: Egress = {},
): Agent {
  const tunnel = proxy && tunnelThrough(proxy)
  const connect = guardedConnector({ policy, find, tunnel })
  const kept = new KeptConnections(keep)
  return new Agent({ factory: (origin) => new OriginConnections(origin, connect, kept) })
}
