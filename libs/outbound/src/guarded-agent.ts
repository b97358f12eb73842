import { isIP, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { Connections, type KeepLimits } from './connections.ts'
import { blockedAddress, SendingError } from './failure.ts'
import { type FindAddresses, lookupWith } from './name-cache.ts'
import { targetNames } from './name-servers.ts'
import { type OpenTunnel, tunnelThrough } from './proxy-tunnel.ts'
import { hostOf, isAllowedAddress, isAllowedPort, type TargetPolicy } from './target-address.ts'

/** No longer than a DNS answer, so that a changed address is noticed under constant traffic too. */
export const KEEP: KeepLimits = { perOrigin: 512, inAll: 768, ageMs: 300_000, responseMiB: 1 }

const CONNECT_TIMEOUT_MS = 10_000
/** After this time the next address of a name is tried. Node's own 250 ms would give up distant hosts. */
const ADDRESS_TIMEOUT_MS = 2000

interface Egress {
  readonly find?: FindAddresses
  /** An http or https proxy that all requests go through, with its credentials. */
  readonly proxy?: URL | undefined
  readonly keep?: KeepLimits
}

/**
 * An HTTP client that connects to allowed addresses and ports only (OP-70, OP-99) and follows no redirects. It limits
 * the time to connect, and no other. The checked addresses are those connected to: a name that changes its answer (DNS
 * rebinding) reaches no other.
 */
export function guardedAgent(
  policy: TargetPolicy,
  { find = targetNames.find, proxy, keep = KEEP }: Egress = {},
): Connections {
  const tunnel = proxy && tunnelThrough(proxy)
  const findAllowed = onlyAllowed(find, policy)
  const direct = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    minVersion: 'TLSv1.2',
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup: lookupWith(findAllowed),
  })
  const connect: buildConnector.connector = (options, callback) => {
    const host = hostOf(options.hostname)
    const refusal = refusalOf(host, options.port, policy)
    if (refusal !== undefined) return callback(refusal, null)
    // A certificate and SNI have no dot at the end (RFC 6066); an address has no server name.
    const target = isIP(host) ? options : { ...options, servername: host.replace(/\.$/, '') }
    if (tunnel === undefined) return direct(target, callback)
    throughTunnel(tunnel, findAllowed, target).then(
      (socket) => {
        if (target.protocol === 'https:') direct({ ...target, httpSocket: socket }, callback)
        else callback(null, socket)
      },
      (error: Error) => callback(error, null),
    )
  }
  return new Connections(connect, keep)
}

/** Checks the port, and an address in place of a name: the connection to it makes no lookup that could check it. */
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
 * Connects through the proxy, which resolves the name itself and must check its own answer. A name that resolves here
 * is checked here too; another is left to the proxy (OP-99).
 */
async function throughTunnel(
  tunnel: OpenTunnel,
  findAllowed: FindAddresses,
  { hostname, port, protocol }: buildConnector.Options,
): Promise<Socket> {
  const host = hostOf(hostname)
  if (!isIP(host)) await findAllowed(host).catch(unlessBlocked)
  return tunnel(`${isIP(host) === 6 ? `[${host}]` : host}:${port || (protocol === 'https:' ? 443 : 80)}`)
}

function unlessBlocked(error: unknown): void {
  if (error instanceof SendingError && error.failureClass === 'blocked') throw error
}
