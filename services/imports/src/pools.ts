import type { Pools } from '@backoffice/service/service-pools.ts'

/**
 * The connections of imports besides the pool for requests. In that pool a workspace has a share only: jobs of a busy
 * workspace would wait there, and delay those of others.
 */
export const POOLS = {
  worker: { role: 'worker', poolSize: 2 },
  jobs: { role: 'app', poolSize: 6 },
  results: { role: 'app', poolSize: 4 },
} as const satisfies Pools
