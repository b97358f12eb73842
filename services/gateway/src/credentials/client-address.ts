import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The client behind an address: the address, or the first 64 bits of IPv6, since a client chooses the others. */
export function clientOf(address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
