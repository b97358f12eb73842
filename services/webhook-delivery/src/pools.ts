import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import type { Pools } from '@backoffice/service/service-pools.ts'

/** The connections of webhook-delivery besides those for requests. The locks of shards are held by a session. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 10, sessions: 1, settings: PLAN_ONCE_BY_KEYS },
} as const satisfies Pools
