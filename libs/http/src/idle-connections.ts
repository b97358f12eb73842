/**
 * How a connection to a service ends when no request uses it, for undici's pools. A service that stops ends the connections in use with
 * an answer, and cannot tell its clients before it closes an idle one: a request that was just sent over it is lost. So clients end idle
 * connections themselves, sooner than `STOP_DELAY` (docs/operations.md). undici looks about once a second.
 */
export const IDLE_CONNECTIONS = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 } as const
