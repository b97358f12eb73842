/**
 * How long clients keep an idle connection to a service: shorter than `STOP_DELAY` (docs/operations.md). A service that
 * stops closes idle connections without a warning, and a request just sent would be lost. undici checks about once a
 * second.
 */
export const IDLE_CONNECTIONS = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 } as const
