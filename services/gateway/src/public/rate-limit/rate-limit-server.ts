import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Component } from '@backoffice/runtime/component.ts'
import { deadline } from '@backoffice/runtime/deadline.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { GATEWAYS_KEY, heartbeatReadings } from './count-gateways.ts'
import { type Lease, type LeaseRequest, leaseArguments, leaseOf } from './lease-tokens.ts'
import { type RateLimitConnection, RECONNECT_MS, rateLimitConnection } from './rate-limit-connection.ts'

/** The longest wait of a call for the server, unless a test says otherwise. */
const ANSWER_WITHIN_MS = 50
/** How long the server may execute a request, in milliseconds. Tokens that come too late for their call are given back. */
const VALID_MS = 1000
const HEARTBEAT_MS = 1000
/** A shorter outage is not logged: a single answer may be late. */
const LOGGED_AFTER_MS = 1000
/** The longest wait of `start` for the connection, in milliseconds. */
const START_WITHIN_MS = 1000

const serverUp = meter('rate-limits').createGauge('rate_limit_server_up', {
  description: '1 while rate limits are shared through the server, 0 while this gateway counts its part alone',
})
const gatewaysSeen = meter('rate-limits').createGauge('rate_limit_gateways', {
  description: 'Gateways that share rate limits through the server',
})
const calls = meter('rate-limits').createCounter('rate_limit_server_calls', {
  description: 'Calls of the rate limit server, by outcome: answered or failed',
})

/** The server with the buckets of all gateways. As a component it keeps the connection and sends heartbeats. */
export interface RateLimitServer extends Component {
  /** Whether calls are counted on the server now. */
  isUp(): boolean
  /** The number of gateways that share it, at least 1. */
  gateways(): number
  /** Unix milliseconds by the server's clock. */
  unixTime(): number
  /** Takes tokens of a key's bucket. Undefined when there is no answer within 50 ms; a later one is passed to `onLate`. */
  lease(keyId: string, request: LeaseRequest, onLate: (lease: Lease) => void): Promise<Lease | undefined>
}

interface RateLimitServerOptions {
  readonly url: string
  readonly answerWithinMs?: number | undefined
  readonly logger: Logger
  /** Called when the server answers again, before calls are counted there. Resolves with whether it still answers. */
  readonly reconcile: () => Promise<boolean>
}

/**
 * Calls a Valkey or Redis server. After a call without an answer it counts as away until it answers a heartbeat, which is sent at
 * once when it is connected again or answers late. The log has one line for the begin of an outage of a second or more, and one for its end.
 */
export function rateLimitServer({
  url,
  answerWithinMs = ANSWER_WITHIN_MS,
  logger,
  reconcile,
}: RateLimitServerOptions): RateLimitServer {
  const id = randomUUID()
  const readings = heartbeatReadings()
  let connection: RateLimitConnection | undefined
  // Only the message is kept: errors of the client contain their command, and so the password.
  let connectionError: string | undefined
  let awaySince: number | undefined = performance.now()
  let isLogged = false

  function noteAway(reason: string): void {
    awaySince ??= performance.now()
    serverUp.record(0)
    if (isLogged || performance.now() - awaySince < LOGGED_AFTER_MS) return
    isLogged = true
    logger.warn(
      { reason: connectionError ?? reason, gateways: readings.gateways() },
      'the rate limit server is away: this gateway counts its part of each limit alone',
    )
  }

  async function comeBack(): Promise<void> {
    if (awaySince === undefined || !(await reconcile())) return
    const durationMs = Math.round(performance.now() - awaySince)
    awaySince = undefined
    serverUp.record(1)
    if (isLogged) logger.info({ duration_ms: durationMs }, 'the rate limit server is back: limits are shared again')
    isLogged = false
  }

  async function ask<Reply>(
    command: (connection: RateLimitConnection) => Promise<Reply>,
    onLate: (reply: Reply) => void = () => undefined,
  ): Promise<Reply | undefined> {
    if (connection === undefined) return undefined
    const { promise: missed, reject } = Promise.withResolvers<never>()
    const late = () => reject(new Error(`no answer within ${answerWithinMs} ms`))
    const sent = command(connection)
    try {
      const reply = await Promise.race([sent, missed]).finally(deadline(answerWithinMs, late))
      calls.add(1, { outcome: 'answered' })
      return reply
    } catch (error) {
      calls.add(1, { outcome: 'failed' })
      noteAway((error as Error).message)
      sent.then(
        (reply) => {
          onLate(reply)
          // The server answers again.
          heartbeats.wake()
        },
        () => undefined,
      )
      return undefined
    }
  }

  /** Returns the pause until the next heartbeat. */
  async function beat(): Promise<number> {
    const reply = await ask((server) => server.countGateways(GATEWAYS_KEY, id))
    if (reply === undefined) return RECONNECT_MS
    readings.note(reply, performance.now())
    gatewaysSeen.record(readings.gateways())
    await comeBack()
    return HEARTBEAT_MS
  }

  const heartbeats = worker({ name: 'rate limit server', everyMs: HEARTBEAT_MS, logger, work: beat })

  async function connect(): Promise<void> {
    connection = await rateLimitConnection(url)
    connection.on('error', (error: Error) => {
      connectionError = error.message
    })
    connection.on('ready', () => {
      connectionError = undefined
      heartbeats.wake()
    })
    await Promise.race([connection.connect().catch(() => undefined), pause(START_WITHIN_MS, undefined, { ref: false })])
  }

  return {
    name: heartbeats.name,
    isUp: () => awaySince === undefined,
    gateways: readings.gateways,
    unixTime: () => readings.unixTime(performance.now()),
    async lease(keyId, request, onLate) {
      const until = readings.unixTime(performance.now()) + VALID_MS
      const values = leaseArguments(request, { id, gateways: readings.gateways() }, until)
      const reply = await ask(
        (server) => server.leaseTokens(`rate-limit:${keyId}`, ...values),
        (late) => {
          const lease = leaseOf(late)
          if (lease !== undefined) onLate(lease)
        },
      )
      const lease = reply && leaseOf(reply)
      if (reply !== undefined && lease === undefined) noteAway('it executed a request too late')
      return lease
    },
    async start() {
      await connect()
      await beat()
      await heartbeats.start?.()
    },
    async stop() {
      await heartbeats.stop?.()
      if (awaySince === undefined) await ask((server) => server.zrem(GATEWAYS_KEY, id))
      connection?.disconnect()
    },
  }
}
