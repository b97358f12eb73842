import { Pool } from 'undici'

/**
 * How long clients keep an idle connection to a service: shorter than `STOP_DELAY` (docs/operations.md). A service that
 * stops closes idle connections without a warning, and a request just sent would be lost. undici checks about once a
 * second.
 */
const IDLE_MS = 4_000

export interface PoolLimits {
  readonly connections: number
  readonly connectMs: number
  /** From the request's last byte to the answer's head, and between two chunks of the answer's body. */
  readonly answerMs: number
}

/** Kept-alive connections to a service. Each carries one request at a time, so that no request waits for another. */
export const servicePool = (url: string, { connections, connectMs, answerMs }: PoolLimits): Pool =>
  new Pool(url, {
    connections,
    pipelining: 1,
    connect: { timeout: connectMs },
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
  })
