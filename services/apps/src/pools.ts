import type { Pools } from '@backoffice/service/service-pools.ts'

/** The connections of apps besides those for requests. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 2 },
  calls: { role: 'app', poolSize: 4 },
} as const satisfies Pools
