import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import type { Pools } from '@backoffice/service/service-pools.ts'

/** Refreshes leave locked rows for later, so that other workspaces do not wait for the lock. */
const REFRESH_SETTINGS = { ...PLAN_EACH_TIME, lock_timeout: '1s' }

/** The connections of catalog besides those for requests. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 1 },
  refresh: { role: 'app', poolSize: 2, settings: REFRESH_SETTINGS },
  images: { role: 'app', poolSize: 2, settings: PLAN_EACH_TIME },
  imports: { role: 'app', poolSize: 4 },
  releases: { role: 'app', poolSize: 3 },
} as const satisfies Pools
