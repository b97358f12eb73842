import type { Pools } from '@backoffice/service/service-pools.ts'
import { LOOK_UP_CONCURRENCY } from './credentials/keys/look-ups.ts'

/** The connections of the gateway besides those for requests. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 10, sessions: 1 },
  /** What operators list, with counts of whole tables: look-ups and revocations of keys must not wait for it. */
  lists: { role: 'worker', poolSize: 3 },
  unverified: { role: 'worker', poolSize: LOOK_UP_CONCURRENCY },
} as const satisfies Pools
