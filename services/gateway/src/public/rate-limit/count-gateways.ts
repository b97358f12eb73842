/** After this time without a heartbeat a gateway no longer counts. */
const SEEN_WITHIN_MS = 5000

/** The sorted set of the gateways, by the time of their last heartbeat. */
export const GATEWAYS_KEY = 'rate-limit-gateways'

/** Notes a gateway's heartbeat. Returns the number of gateways and the server's clock. */
export const COUNT_GATEWAYS = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${SEEN_WITHIN_MS})
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ${SEEN_WITHIN_MS}, '+inf')
redis.call('PEXPIRE', KEYS[1], ${SEEN_WITHIN_MS})
return { redis.call('ZCARD', KEYS[1]), string.format('%.3f', now) }
`

export type HeartbeatReply = readonly [gateways: number, now: string]

interface Reading {
  readonly gateways: number
  /** The server's Unix milliseconds less this process's monotonic clock. */
  readonly offset: number
}

/** The readings in memory; there is one a second. */
const READINGS = 5

/** What the last heartbeats have shown: the gateways, and the server's clock. `now` is the process's clock. */
export function heartbeatReadings() {
  let readings: Reading[] = []
  const highest = (of: keyof Reading, unless: number) =>
    readings.length === 0 ? unless : Math.max(...readings.map((reading) => reading[of]))
  return {
    note([gateways, serverNow]: HeartbeatReply, now: number) {
      readings = [{ gateways, offset: Number(serverNow) - now }, ...readings].slice(0, READINGS)
    },
    /** The highest of the last numbers: a restarted server without its memory learns of the gateways one by one. */
    gateways: () => highest('gateways', 1),
    /**
     * Unix milliseconds by the server's clock; by this process's clock before the first answer. A late answer makes the
     * offset too small, so the highest one counts.
     */
    unixTime: (now: number) => now + highest('offset', performance.timeOrigin),
  }
}
