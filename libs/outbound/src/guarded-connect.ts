import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { blockedAddress, SendingError } from './failure.ts'
import { type FindAddresses, lookupWith } from './name-cache.ts'
import type { OpenTunnel } from './proxy-tunnel.ts'
import { hostOf, isAllowedAddress, isAllowedPort, type TargetPolicy } from './target-address.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** Of several addresses the next is tried after this long; Node's own 250 ms gives up distant ones. */
const ADDRESS_TIMEOUT_MS = 2000

export interface Route {
  readonly policy: TargetPolicy
  readonly find: FindAddresses
  /** Through the egress proxy; directly when there is none. */
  readonly tunnel: OpenTunnel | undefined
}

/**
 * Connects to allowed addresses and ports only (OP-70, OP-99): each connection's addresses are checked as it is made, and
 * it goes to those very addresses, so a name that changes its answer gains nothing.
 */
export function guardedConnector({ policy, find, tunnel }: Route): buildConnector.connector {
  const findAllowed = onlyAllowed(find, policy)
  const direct = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    minVersion: 'TLSv1.2',
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup: lookupWith(findAllowed),
  })
  return (options, callback) => {
    const host = hostOf(options.hostname)
    const refusal = refusalOf(host, options.port, policy)
    if (refusal !== undefined) return callback(refusal, null)
    // A certificate and SNI have no dot at the end (RFC 6066); an address has no server name.
    const target = isIP(host) ? options : { ...options, servername: host.replace(/\.$/, '') }
    if (tunnel === undefined) direct(target, callback)
    else void throughTunnel(tunnel, findAllowed, direct, target, callback)
  }
}

/** A literal address is connected to without a lookup. */
function refusalOf(host: string, port: string, policy: TargetPolicy): SendingError | undefined {
  if (isIP(host) && !isAllowedAddress(host, policy)) return blockedAddress(host)
  return isAllowedPort(host, port, policy) ? undefined : new SendingError('blocked', `port ${port} is not allowed`)
}

/** A name with one forbidden address is refused whole: the client must not choose which one it gets (OP-75). */
const onlyAllowed =
  (find: FindAddresses, policy: TargetPolicy): FindAddresses =>
  async (name) => {
    const addresses = await find(name)
    if (addresses.every((address) => isAllowedAddress(address, policy))) return addresses
    throw blockedAddress(name)
  }

/**
 * The proxy resolves the name itself, and must refuse by itself what resolves differently for it. What we can resolve is
 * checked all the same; what we cannot is left to the proxy, which may be the only one that can (OP-99).
 */
async function throughTunnel(
  tunnel: OpenTunnel,
  findAllowed: FindAddresses,
  direct: buildConnector.connector,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
): Promise<void> {
  const { hostname, protocol } = options
  const host = hostOf(hostname)
  const port = options.port || (protocol === 'https:' ? '443' : '80')
  try {
    if (!isIP(host)) await findAllowed(host).catch(unlessBlocked)
    const socket = await tunnel(isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`)
    if (protocol === 'https:') direct({ ...options, httpSocket: socket }, callback)
    else callback(null, socket)
  } catch (error) {
    callback(error instanceof Error ? error : new Error(String(error)), null)
  }
}

function unlessBlocked(error: unknown): void {
  if (error instanceof SendingError && error.failureClass === 'blocked') throw error
}
