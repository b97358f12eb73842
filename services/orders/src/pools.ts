import { REQUEST_SETTINGS, REQUEST_TRANSACTION_MS } from '@backoffice/postgres/request-settings.ts'
import type { Pools } from '@backoffice/service/service-pools.ts'
import { ERASURE_SETTINGS } from './erasures/erase-customers.ts'

/** The connections of orders besides those for requests. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 1 },
  imports: { role: 'app', poolSize: 4 },
  releases: { role: 'app', poolSize: 1 },
  /** Bounded as requests are: one order that stays locked must not hold up those of other workspaces. */
  placements: { role: 'app', poolSize: 2, settings: REQUEST_SETTINGS, endWithinMs: REQUEST_TRANSACTION_MS },
  erasures: { role: 'app', poolSize: 1, settings: ERASURE_SETTINGS },
} as const satisfies Pools
