import { setTimeout as pause } from 'node:timers/promises'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { Redis } from 'iovalkey'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { redisServer } from '../../testing/redis-server.ts'
import { SharedRateLimiter } from './shared-rate-limiter.ts'
import type { RateLimit } from './token-bucket.ts'

const redis = await redisServer()
const inspector = new Redis(redis.url)
inspector.on('error', () => undefined)
whenDone(() => inspector.disconnect())

/** Next to nothing grows back during a test. */
const STANDING = 0.001
const STANDARD: RateLimit = { perSecond: STANDING, burst: 10 }
let keys = 0
/** A key that nobody has used. */
const aKey = () => `key-${++keys}`

interface GatewayOptions {
  readonly url?: string
  readonly expectedGateways?: number
  /** Long unless the server hangs in the test: the machine of the tests may be slow. */
  readonly answerWithinMs?: number
  readonly validMs?: number
}

/** Starts the limiter of a gateway. */
async function gateway({
  url = redis.url,
  answerWithinMs = 5000,
  validMs = 60_000,
  expectedGateways = 1,
}: GatewayOptions = {}) {
  const log: Record<string, unknown>[] = []
  const logger = pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) })
  const options = { standard: STANDARD, url, logger, answerWithinMs, validMs, expectedGateways }
  const { takeCall, server } = new SharedRateLimiter(options)
  await server.start?.()
  const stop = async () => server.stop?.()
  whenDone(stop)
  return {
    log,
    server,
    stop,
    async call(key: string, limit: RateLimit | null = null) {
      const { headers, refusal } = await takeCall(key, limit, Date.now())
      return {
        isAllowed: refusal === undefined,
        remaining: Number(headers['x-ratelimit-remaining']),
        limit: headers['x-ratelimit-limit'],
        reset: Number(headers['x-ratelimit-reset']),
        retryAfter: Number(refusal?.headers['retry-after']),
      }
    },
  }
}
type Gateway = Awaited<ReturnType<typeof gateway>>

/** So many gateways that know of each other. */
async function gateways(count: number, options: GatewayOptions = {}): Promise<Gateway[]> {
  const all = await Promise.all(Array.from({ length: count }, () => gateway(options)))
  await expect.poll(() => all.every(({ server }) => server.gateways() >= count)).toBe(true)
  return all
}

/** Sends calls one after the other, each to the next gateway. */
async function inTurn(among: readonly Gateway[], count: number, key: string, limit: RateLimit | null = null) {
  const answers = []
  for (let sent = 0; sent < count; sent++) {
    const next = among[sent % among.length] as Gateway
    answers.push(await next.call(key, limit))
  }
  return answers
}

/** Sends all calls at once, each to the next gateway, and returns how many were let through. */
async function atOnce(among: readonly Gateway[], count: number, key: string, limit: RateLimit | null = null) {
  const sent = Array.from({ length: count }, (_, index) => (among[index % among.length] as Gateway).call(key, limit))
  return allowed(await Promise.all(sent))
}

const allowed = (answers: readonly { isAllowed: boolean }[]) => answers.filter(({ isAllowed }) => isAllowed).length
const remaining = (answers: readonly { remaining: number }[]) => answers.map((answer) => answer.remaining)
const up = (all: readonly Gateway[]) => expect.poll(() => all.every(({ server }) => server.isUp()))
const down = (all: readonly Gateway[]) => expect.poll(() => all.some(({ server }) => server.isUp()))

/** The requests for tokens that the server executes while `work` runs. */
async function roundTrips(work: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    const scripts = (await inspector.info('commandstats')).matchAll(/cmdstat_hmget:calls=(\d+)/g)
    return Number([...scripts][0]?.[1] ?? 0)
  }
  const before = await count()
  await work()
  return (await count()) - before
}

test('a client of several gateways has one limit, and sees it shrink call by call', async () => {
  const all = await gateways(3)
  const key = aKey()
  const answers = await inTurn(all, 13, key)
  expect(remaining(answers)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0])
  expect(answers.map(({ isAllowed }) => isAllowed)).toEqual([...Array(10).fill(true), false, false, false])
  expect(new Set(answers.map(({ limit }) => limit))).toEqual(new Set(['10']))
})

test('calls at once on several gateways get exactly the burst', async () => {
  const all = await gateways(3)
  const limit = { perSecond: STANDING, burst: 200 }
  expect(await atOnce(all, 900, aKey(), limit)).toBe(200)
})

test('a limit with leased tokens is exact but for what grows within a lease', async () => {
  const all = await gateways(2)
  const limit = { perSecond: 1000, burst: 500 }
  const key = aKey()
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < 1500 || count <= limit.burst) {
    count += await atOnce(all, 40, key, limit)
    await pause(1)
  }
  const full = limit.burst + ((performance.now() - startedAt) / 1000) * limit.perSecond
  expect(count).toBeLessThanOrEqual(full + limit.perSecond * 0.1)
  expect(count).toBeGreaterThan(limit.burst)
})

test('a client of two gateways sees the remaining calls grow no faster than its limit', async () => {
  const all = await gateways(2)
  const limit = { perSecond: 50, burst: 100 }
  const key = aKey()
  let last = { remaining: limit.burst, sentAt: performance.now() }
  for (const one of Array(150).keys()) {
    const sentAt = performance.now()
    const { remaining, isAllowed } = await (all[one % 2] as Gateway).call(key, limit)
    const growth = ((performance.now() - last.sentAt) * limit.perSecond) / 1000
    expect(remaining).toBeGreaterThanOrEqual(0)
    if (isAllowed) expect(remaining).toBeLessThanOrEqual(last.remaining + Math.ceil(growth))
    last = { remaining, sentAt }
  }
})

test('a refusal says when the next call goes through, and asks the server no more until then', async () => {
  const all = await gateways(2)
  const key = aKey()
  const limit = { perSecond: 0.01, burst: 4 }
  const [startedAt] = await inspector.time()
  await inTurn(all, 4, key, limit)
  const trips = await roundTrips(async () => {
    const [refused] = await inTurn(all, 1000, key, limit)
    expect(refused).toMatchObject({ isAllowed: false, remaining: 0 })
    expect(refused?.retryAfter).toBeGreaterThan(50)
    expect(refused?.retryAfter).toBeLessThanOrEqual(100)
    expect(refused?.reset).toBeGreaterThanOrEqual(Number(startedAt) + 400)
    expect(refused?.reset).toBeLessThanOrEqual(Number((await inspector.time())[0]) + 401)
  })
  expect(trips).toBeLessThanOrEqual(4)
})

test('a busy key needs few requests to the server, also on two gateways, and a client that alternates between them has exact numbers', async () => {
  const [one, other] = (await gateways(2)) as [Gateway, Gateway]
  const limit = { perSecond: 1000, burst: 100_000 }
  expect(await roundTrips(() => inTurn([one, other], 100, aKey(), limit))).toBe(100)
  expect(await roundTrips(() => inTurn([one], 1000, aKey(), limit))).toBeLessThan(200)
  const key = aKey()
  const overlapping = () => Promise.all(Array.from({ length: 64 }, () => inTurn([one, other], 50, key, limit)))
  expect(await roundTrips(overlapping)).toBeLessThan(1000)
})

test('leased tokens that are not used are given back', async () => {
  const [one, other] = (await gateways(2)) as [Gateway, Gateway]
  const limit = { perSecond: 100, burst: 1000 }
  const key = aKey()
  await inTurn([one], 30, key, limit)
  await expect.poll(async () => Number(await inspector.hget(`rate-limit:${key}`, 'tokens'))).toBeGreaterThanOrEqual(970)
  expect((await other.call(key, limit)).remaining).toBeGreaterThanOrEqual(969)
})

test('a flood of one key is a few requests to the server, and the calls of others go through meanwhile', async () => {
  const [one] = (await gateways(1)) as [Gateway]
  const key = aKey()
  const trips = await roundTrips(async () => {
    const flood = atOnce([one], 10_000, key)
    expect((await one.call(aKey())).isAllowed).toBe(true)
    expect(await flood).toBe(10)
  })
  expect(trips).toBeLessThan(20)
})

test('a changed limit counts at once on every gateway', async () => {
  const all = await gateways(2)
  const key = aKey()
  await inTurn(all, 4, key, { perSecond: STANDING, burst: 1000 })
  expect(remaining(await inTurn(all, 4, key, { perSecond: STANDING, burst: 3 }))).toEqual([2, 1, 0, 0])
  const raised = { perSecond: 1000, burst: 2000 }
  await expect.poll(async () => allowed(await inTurn(all, 2, key, raised))).toBe(2)
})

test('a bucket that is full again takes no memory of the server', async () => {
  const all = await gateways(2)
  const [fast, slow] = [aKey(), aKey()]
  await inTurn(all, 20, fast, { perSecond: 100, burst: 20 })
  await inTurn(all, 2, slow, { perSecond: 1, burst: 3600 })
  await expect.poll(() => inspector.exists(`rate-limit:${fast}`)).toBe(0)
  expect(await inspector.pttl(`rate-limit:${slow}`)).toBeLessThanOrEqual(3_600_000)
  expect(await inspector.pttl('rate-limit-gateways')).toBeGreaterThan(0)
})

test('a gateway that ends no longer counts', async () => {
  const [one, other] = (await gateways(2)) as [Gateway, Gateway]
  const before = await inspector.zcard('rate-limit-gateways')
  await other.stop()
  expect(await inspector.zcard('rate-limit-gateways')).toBe(before - 1)
  expect(one.server.gateways()).toBeGreaterThanOrEqual(2)
})

test('a gateway whose clock is a month off counts as all others, and says the same reset', async () => {
  const [one, other] = (await gateways(2)) as [Gateway, Gateway]
  const key = aKey()
  const right = await one.call(key)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * 86_400_000 })
  whenDone(() => vi.useRealTimers())
  const wrong = await other.call(key)
  expect(wrong.remaining).toBe(8)
  expect(wrong.reset - right.reset).toBe(1 / STANDING)
  expect(allowed(await inTurn([other, one], 12, key))).toBe(8)
})

test('while the server is killed each gateway counts its part, and a client gets at most a burst too much', async () => {
  const all = await gateways(2)
  const [used, fresh] = [aKey(), aKey()]
  await inTurn(all, 12, used)
  await redis.kill()
  await down(all).toBe(false)
  expect(allowed(await inTurn(all, 20, used))).toBe(0)
  expect(allowed(await inTurn(all, 20, fresh))).toBe(10)
  await expect.poll(() => all.every(({ log }) => log.length === 1)).toBe(true)
  await redis.start()
  await up(all).toBe(true)
  expect(allowed(await inTurn(all, 20, fresh))).toBe(0)
  expect(allowed(await inTurn(all, 40, used))).toBeLessThanOrEqual(10)
  expect(allowed(await inTurn(all, 12, aKey()))).toBe(10)
  for (const { log } of all) {
    expect(log.map(({ msg }) => msg)).toEqual([
      'the rate limit server is away: this gateway counts its part of each limit alone',
      'the rate limit server is back: limits are shared again',
    ])
    expect(log[0]).toMatchObject({ gateways: 2 })
  }
})

test('a server that hangs delays a call for a moment, and counts what went on meanwhile', async () => {
  const all = await gateways(2, { answerWithinMs: 3000 })
  const [used, fresh] = [aKey(), aKey()]
  await inTurn(all, 4, used)
  redis.hang()
  expect(await atOnce(all, 40, fresh)).toBe(10)
  expect(allowed(await inTurn(all, 20, used))).toBeLessThanOrEqual(7)
  redis.goOn()
  await up(all).toBe(true)
  expect(allowed(await inTurn(all, 20, fresh))).toBe(0)
  expect(allowed(await inTurn(all, 20, used))).toBeLessThanOrEqual(1)
  expect(allowed(await inTurn(all, 12, aKey()))).toBe(10)
})

test('a server that hangs for long, and then executes the requests of that time, takes no tokens from any key', async () => {
  const all = await gateways(2, { answerWithinMs: 3000, validMs: 3000 })
  const key = aKey()
  redis.hang()
  expect(await atOnce(all, 4, key)).toBe(4)
  await pause(3000)
  redis.goOn()
  await up(all).toBe(true)
  expect(allowed(await inTurn(all, 20, key))).toBe(6)
})

test('without the server from the start the whole limit counts, with one line of the log', async () => {
  const alone = await gateway({ url: 'redis://127.0.0.1:9' })
  expect(alone.server.isUp()).toBe(false)
  expect(allowed(await inTurn([alone], 20, aKey()))).toBe(10)
  await expect.poll(() => alone.log.length).toBe(1)
  expect(alone.log[0]?.reason).toMatch(/ECONNREFUSED/)
})

test('gateways that start while the server is away count the part of each that is expected', async () => {
  const away = await redisServer()
  await away.kill()
  const options = { url: away.url, expectedGateways: 2 }
  const all = await Promise.all([gateway(options), gateway(options)])
  const key = aKey()
  expect(allowed(await inTurn(all, 20, key))).toBe(10)
  await away.start()
  await up(all).toBe(true)
  expect(allowed(await inTurn(all, 20, key))).toBe(0)
  expect(allowed(await inTurn(all, 20, aKey()))).toBe(10)
})

test('the first gateway that the server sees still counts those that are expected', async () => {
  const alone = await redisServer()
  const one = await gateway({ url: alone.url, expectedGateways: 2 })
  await up([one]).toBe(true)
  await alone.kill()
  await down([one]).toBe(false)
  expect(allowed(await inTurn([one], 20, aKey()))).toBe(5)
})

test('the log says that the password is wrong, without the password', async () => {
  const guarded = await redisServer({ password: 'the-right-one' })
  const wrong = await gateway({ url: guarded.url.replace('the-right-one', 'the-wrong-one') })
  expect(allowed(await inTurn([wrong], 20, aKey()))).toBe(10)
  await expect.poll(() => JSON.stringify(wrong.log)).toContain('WRONGPASS')
  expect(JSON.stringify(wrong.log)).not.toContain('the-wrong-one')
})
