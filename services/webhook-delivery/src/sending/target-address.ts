import ipaddr from 'ipaddr.js'

const IPV6_GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** Which targets a process sends to. */
export interface TargetPolicy {
  /** Also send to loopback, and there over plain http: for local stacks and tests (OP-70). */
  readonly allowLoopback: boolean
}

/**
 * Whether deliveries may go to an IP address: public unicast only, in every notation, IPv4 inside IPv6 included (OP-70).
 * Addresses that carry another one (NAT64, 6to4, Teredo) are refused, since what they reach cannot be told.
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

/** Whether a URL's host says by itself that it is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostOf(hostname)
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === 'loopback'
  return /^(.+\.)?localhost\.?$/.test(host)
}
