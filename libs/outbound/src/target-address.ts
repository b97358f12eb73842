import ipaddr from 'ipaddr.js'

const IPV6_GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** Ports above 1023 that belong to other protocols, from the list of the Fetch standard (port blocking). */
const PORTS_OF_OTHERS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
])

/** Which targets a process sends to. */
export interface TargetPolicy {
  /** Also send to loopback, and there over plain http: for local stacks and tests (OP-70). */
  readonly allowLoopback: boolean
}

/**
 * Whether requests may go to an IP address: public unicast only (OP-70). Addresses that carry another one (NAT64, 6to4,
 * Teredo) are refused, since what they reach cannot be told.
 */
export function isAllowedAddress(address: string, { allowLoopback }: TargetPolicy): boolean {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range === 'loopback') return allowLoopback
  if (range !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(IPV6_GLOBAL_UNICAST)
}

/** A URL's host as an address or name: without the brackets of IPv6. */
export const hostOf = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Whether a host can be looked up (RFC 1035), with a dot at the end or without. */
export const isLookupName = (hostname: string): boolean =>
  /^(?=.{1,253}\.?$)([^.]{1,63}\.)*[^.]{1,63}\.?$/.test(hostname)

/** Whether a URL's host says by itself that it is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostOf(hostname)
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === 'loopback'
  return /^(.+\.)?localhost\.?$/.test(host)
}

/** Whether requests may go to a port, which is empty for that of the scheme; loopback may have any (OP-99). */
export function isAllowedPort(hostname: string, port: string, { allowLoopback }: TargetPolicy): boolean {
  if (port === '' || port === '443') return true
  if (allowLoopback && isLoopbackHost(hostname)) return true
  return Number(port) >= 1024 && !PORTS_OF_OTHERS.has(Number(port))
}
