/**
 * How long undici's pools keep an idle connection to a service. A service that stops ends a busy connection with its
 * answer, but closes an idle one without a warning: a request that was just sent over it is lost. So clients end idle
 * connections themselves, sooner than `STOP_DELAY` (docs/operations.md). undici checks about once a second.
 */
export const IDLE_CONNECTIONS = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 } as const
