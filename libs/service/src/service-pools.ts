import { SERVICES, type ServiceName } from '@backoffice/contracts/services.ts'
import type { DatabaseOptions } from '@backoffice/postgres/database.ts'
import { CHECKING_SERVICES } from './checks/check-run.ts'

/** A pool of connections for work other than requests. */
export interface Pool extends Pick<DatabaseOptions, 'settings' | 'endWithinMs'> {
  /**
   * The app role acts inside one workspace. Its connections may be a pooler's, so `settings` hold only in transactions
   * inside a workspace. The worker role acts across workspaces, on connections to the server itself.
   */
  readonly role: 'app' | 'worker'
  readonly poolSize: number
  /** Connections that users of the pool open beside it: one for LISTEN, one for a lock that a session holds. */
  readonly sessions?: number
}

/** By purpose; pg_stat_activity shows one as `<service> <purpose>`. */
export type Pools = Readonly<Record<string, Pool>>

/** The pool of every service in which workspaces are suspended, resumed and deleted. */
export const WORKSPACES_POOL: Pool = { role: 'app', poolSize: 2 }

/** The connections of the readiness probe, for each role. */
const PROBE = 1
/** The connections of the relay: for its lock, its clean-up, and LISTEN. */
const RELAY = 3

/** The connection of checks, while one runs. */
const CHECKS = 1

/** The connections of one replica at most, for each role, when `requests` of them are for requests. */
export function connectionsOf(name: ServiceName, pools: Pools, requests: number): Record<Pool['role'], number> {
  const sumOf = (role: Pool['role']) =>
    [...Object.values(pools), WORKSPACES_POOL]
      .filter((pool) => pool.role === role)
      .reduce((sum, { poolSize, sessions = 0 }) => sum + poolSize + sessions, 0)
  const isPublisher = SERVICES[name].publishes.length > 0
  const further = PROBE + (isPublisher ? RELAY : 0) + (CHECKING_SERVICES.includes(name) ? CHECKS : 0)
  return { app: requests + sumOf('app') + PROBE, worker: sumOf('worker') + further }
}
