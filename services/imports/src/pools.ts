import type { Pools } from '@backoffice/service/service-pools.ts'

/** The connections of imports besides those for requests. There a workspace has a share only: the jobs of a busy one would wait for it and delay those of others. */
export const POOLS = {
  worker: { role: 'worker', poolSize: 2 },
  jobs: { role: 'app', poolSize: 6 },
  results: { role: 'app', poolSize: 4 },
} as const satisfies Pools
