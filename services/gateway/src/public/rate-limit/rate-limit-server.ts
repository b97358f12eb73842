import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Component } from '@backoffice/runtime/component.ts'
import { answeredOr } from '@backoffice/runtime/deadline.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter, gauge } from '@backoffice/runtime/metrics.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { Lease, LeaseRequest } from './lease-tokens.ts'
import { GATEWAYS_KEY, type RateLimitConnection, RECONNECT_MS, rateLimitConnection } from './rate-limit-connection.ts'

/** The longest wait of a call for the server, unless a test says otherwise. */
const ANSWER_WITHIN_MS = 50
/** How long the server may execute a request, unless a test says otherwise. Tokens that come later are given back. */
const VALID_MS = 1000
const HEARTBEAT_MS = 1000
/** The heartbeats in memory. */
const MAX_HEARTBEATS = 5
/** A shorter outage is not logged: a single answer may be late. */
const LOGGED_AFTER_MS = 1000
/** The longest wait of `start` for the connection, in milliseconds. */
const START_WITHIN_MS = 1000

const serverUp = gauge(
  'rate_limit_server_up',
  '1 while rate limits are shared through the server, 0 while this gateway counts its part alone',
)
const gatewaysSeen = gauge('rate_limit_gateways', 'Gateways that share rate limits through the server')
const calls = counter('rate_limit_server_calls', 'Calls of the rate limit server, by outcome: answered or failed')

export interface RateLimitServerOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string
  /** As many gateways count until this one has seen how many there are. */
  readonly expectedGateways: number
  /** The longest wait of a call for the server; as in production unless a test says otherwise. */
  readonly answerWithinMs?: number
  /** How many milliseconds the server may execute a request; as in production unless a test says otherwise. */
  readonly validMs?: number
  readonly logger: Logger
  /** Called when the server answers again, before calls are counted there. Resolves with whether it still answers. */
  readonly reconcile: () => Promise<boolean>
}

/**
 * The Valkey or Redis server with the buckets of all gateways. After a call without an answer it counts as away until
 * it answers a heartbeat, which is sent at once when it is connected again or answers late. The log has one line for
 * the begin of an outage of a second or more, and one for its end.
 */
export class RateLimitServer implements Component {
  readonly name = 'rate limit server'
  readonly #id = randomUUID()
  /** What the last heartbeats showed; `offset`: the server's Unix milliseconds less this process's monotonic clock. */
  #shown: readonly { readonly gateways: number; readonly offset: number }[] = []
  readonly #options: RateLimitServerOptions
  readonly #heartbeats: ReturnType<typeof worker>
  #connection: RateLimitConnection | undefined
  // Only the message is kept: errors of the client contain their command, and so the password.
  #connectionError: string | undefined
  #awaySince: number | undefined = performance.now()
  #isLogged = false

  constructor(options: RateLimitServerOptions) {
    this.#options = options
    const { logger } = options
    this.#heartbeats = worker({ name: this.name, everyMs: HEARTBEAT_MS, logger, work: () => this.#beat() })
  }

  async start(): Promise<void> {
    await this.#connect()
    await this.#beat()
    await this.#heartbeats.start?.()
  }

  async stop(): Promise<void> {
    await this.#heartbeats.stop?.()
    if (this.isUp()) await this.#ask((server) => server.zrem(GATEWAYS_KEY, this.#id))
    this.#connection?.disconnect()
  }

  /** Whether calls are counted on the server now. */
  isUp(): boolean {
    return this.#awaySince === undefined
  }

  /**
   * The number of gateways that share it, at least 1. The highest of the last numbers: a restarted server without its
   * memory learns of the gateways one by one. For the same reason the expected number is among the first ones.
   */
  gateways(): number {
    const expected = this.#shown.length < MAX_HEARTBEATS ? this.#options.expectedGateways : 1
    return Math.max(expected, ...this.#shown.map(({ gateways }) => gateways))
  }

  /**
   * Unix milliseconds by the server's clock; by this process's clock before the first answer. A late answer makes the
   * offset too small, so the highest one counts.
   */
  unixTime(): number {
    const offsets = this.#shown.map(({ offset }) => offset)
    return performance.now() + (offsets.length === 0 ? performance.timeOrigin : Math.max(...offsets))
  }

  /** Takes tokens of a key's bucket. Undefined without an answer within 50 ms; a later one is passed to `onLate`. */
  async lease(keyId: string, request: LeaseRequest, onLate: (lease: Lease) => void): Promise<Lease | undefined> {
    const { validMs = VALID_MS } = this.#options
    const deadline = this.unixTime() + validMs
    const argument = { ...request, gateway: this.#id, gateways: this.gateways(), deadline }
    const reply = await this.#ask(
      (server) => server.leaseTokens(`rate-limit:${keyId}`, JSON.stringify(argument)),
      (late) => {
        if (late !== null) onLate(JSON.parse(late))
      },
    )
    if (reply === null) this.#noteAway('it executed a request too late')
    return reply ? JSON.parse(reply) : undefined
  }

  async #connect(): Promise<void> {
    const connection = await rateLimitConnection(this.#options.url)
    this.#connection = connection
    connection.on('error', (error: Error) => {
      this.#connectionError = error.message
    })
    connection.on('ready', () => {
      this.#connectionError = undefined
      this.#heartbeats.wake()
    })
    await Promise.race([connection.connect().catch(() => undefined), pause(START_WITHIN_MS, undefined, { ref: false })])
  }

  /** Returns the pause until the next heartbeat. */
  async #beat(): Promise<number> {
    const reply = await this.#ask((server) => server.countGateways(GATEWAYS_KEY, this.#id))
    if (reply === undefined) return RECONNECT_MS
    const [gateways, serverNow] = reply
    const shown = { gateways, offset: Number(serverNow) - performance.now() }
    this.#shown = [shown, ...this.#shown].slice(0, MAX_HEARTBEATS)
    gatewaysSeen.record(this.gateways())
    await this.#comeBack()
    return HEARTBEAT_MS
  }

  async #ask<Reply>(
    command: (connection: RateLimitConnection) => Promise<Reply>,
    onLate: (reply: Reply) => void = () => undefined,
  ): Promise<Reply | undefined> {
    if (this.#connection === undefined) return undefined
    const { answerWithinMs = ANSWER_WITHIN_MS } = this.#options
    const sent = command(this.#connection)
    try {
      const reply = await answeredOr(answerWithinMs, sent, () => {
        throw new Error(`no answer within ${answerWithinMs} ms`)
      })
      calls.add(1, { outcome: 'answered' })
      return reply
    } catch (error) {
      calls.add(1, { outcome: 'failed' })
      this.#noteAway((error as Error).message)
      sent.then(
        (reply) => {
          onLate(reply)
          // The server answers again.
          this.#heartbeats.wake()
        },
        () => undefined,
      )
      return undefined
    }
  }

  #noteAway(reason: string): void {
    this.#awaySince ??= performance.now()
    serverUp.record(0)
    if (this.#isLogged || performance.now() - this.#awaySince < LOGGED_AFTER_MS) return
    this.#isLogged = true
    this.#options.logger.warn(
      { reason: this.#connectionError ?? reason, gateways: this.gateways() },
      'the rate limit server is away: this gateway counts its part of each limit alone',
    )
  }

  async #comeBack(): Promise<void> {
    if (this.#awaySince === undefined || !(await this.#options.reconcile())) return
    const duration_ms = Math.round(performance.now() - this.#awaySince)
    this.#awaySince = undefined
    serverUp.record(1)
    if (this.#isLogged) {
      this.#options.logger.info({ duration_ms }, 'the rate limit server is back: limits are shared again')
    }
    this.#isLogged = false
  }
}
