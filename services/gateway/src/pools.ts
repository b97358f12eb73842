import type { Pools } from '@backoffice/service/service-pools.ts'
import { LOOK_UP_CONCURRENCY } from './credentials/keys/look-ups.ts'

/** The connections of the gateway besides those for requests. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 10, sessions: 1 },
  /** What operators read: counts of whole tables, for which look-ups of keys must not wait. */
  lists: { role: 'worker', poolSize: 3 },
  unverified: { role: 'worker', poolSize: LOOK_UP_CONCURRENCY },
} as const satisfies Pools
