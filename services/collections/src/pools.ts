import { PLAN_EACH_TIME, PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import type { Pools } from '@backoffice/service/service-pools.ts'

/** The connections of collections besides those for requests. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 6, settings: PLAN_EACH_TIME },
  products: { role: 'worker', poolSize: 6, settings: PLAN_ONCE_BY_KEYS },
  imports: { role: 'app', poolSize: 4 },
} as const satisfies Pools
