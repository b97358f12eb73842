import { lookup, Resolver } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { SendingError } from './failure.ts'
import { type Answer, FAILURE_KEPT, NameCache } from './name-cache.ts'
import { isLoopbackHost } from './target-address.ts'

/** The first wait for a name server and the longest; each is asked `TRIES` times. */
const TIMEOUT_MS = 1000
const MAX_TIMEOUT_MS = 2000
const TRIES = 2
/** After this time the answers that have come are used. */
const ANSWERED_WITHIN_MS = 5000
/** No real receiver has more addresses, and each connection checks all of them. */
const ADDRESSES_AT_MOST = 64

const HOST_FILE_TTL = 30

interface NameServers {
  /** `address:port`; those of the system unless given. */
  readonly servers?: readonly string[]
  readonly answeredWithinMs?: number
}

/**
 * Asks name servers for a name's addresses. Unlike `dns.lookup` this occupies no thread of libuv, so a name server that
 * hangs delays nobody else, and it knows the TTL. No /etc/hosts and no search domains: targets are public names.
 * `localhost` is loopback without asking (RFC 6761). Throws `SendingError`.
 */
export function askNameServers({ servers, answeredWithinMs = ANSWERED_WITHIN_MS }: NameServers = {}) {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, maxTimeout: MAX_TIMEOUT_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return async (name: string): Promise<Answer> => {
    if (isLoopbackHost(name)) return { addresses: ['127.0.0.1', '::1'], ttl: Number.POSITIVE_INFINITY }
    const [ipv4, ipv6] = await Promise.all([
      answered(resolver.resolve4(name, { ttl: true }), answeredWithinMs),
      answered(resolver.resolve6(name, { ttl: true }), answeredWithinMs),
    ])
    // IPv4 first: a network without IPv6 does not delay the connection.
    const records = [...ipv4.records, ...ipv6.records]
    if (records.length === 0) throw unresolved(name, [ipv4.problem, ipv6.problem])
    if (records.length > ADDRESSES_AT_MOST) {
      throw new SendingError('dns', `${name} has more than ${ADDRESSES_AT_MOST} addresses`)
    }
    const ttls = records.map(({ ttl }) => ttl)
    // Its IPv4 addresses are asked for again soon: without a way out by IPv6 the others cannot be reached.
    if (isTrouble(ipv4.problem)) ttls.push(FAILURE_KEPT)
    return { addresses: records.map(({ address }) => address), ttl: Math.min(...ttls) }
  }
}

interface Answered {
  readonly records: readonly { address: string; ttl: number }[]
  readonly problem?: string
}

const answered = (asked: Promise<Answered['records']>, withinMs: number): Promise<Answered> =>
  Promise.race([
    asked.then(
      (records) => ({ records }),
      ({ code }: NodeJS.ErrnoException) => ({ records: [], problem: code ?? 'EUNKNOWN' }),
    ),
    pause(withinMs, { records: [], problem: 'ETIMEOUT' }, { ref: false }),
  ])

const HAS_NONE = new Set<string | undefined>([undefined, 'ENOTFOUND', 'ENODATA', 'EBADNAME'])
/** Whether the name servers could not say what a name has. */
const isTrouble = (problem: string | undefined): boolean => !HAS_NONE.has(problem)

function unresolved(name: string, problems: readonly (string | undefined)[]): SendingError {
  const trouble = problems.find(isTrouble)
  if (trouble === undefined) return new SendingError('dns', `${name} has no address`)
  return new SendingError('dns', `the name servers of ${name} could not be asked (${trouble})`)
}

/** The names of targets. One cache for the whole process: checking a URL and connecting to it ask for the same. */
export const targetNames = new NameCache(askNameServers())

/** Asks the system, /etc/hosts and search domains included: for names an operator configured. */
export async function askSystem(name: string): Promise<Answer> {
  const found = await lookup(name, { all: true })
  return { addresses: found.map(({ address }) => address), ttl: HOST_FILE_TTL }
}
