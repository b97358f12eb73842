import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import type { Catalog } from '../catalog/catalog-client.ts'
import { contextOfWorker } from '../catalog/context-of-worker.ts'
import { noteFailure, releaseTakings } from './reserve-stock.ts'

const NAME = 'abandoned reservations'
const EVERY_MS = 5000
/** The most reservations of a batch: of all workspaces, and of one of them. */
const BATCH_SIZE = 1000
const WORKSPACE_BATCH_SIZE = 100
/** Catalog is asked for the stock of a workspace for about so long after a batch. */
const ASKING_MS = 5000

interface Dependencies {
  /** Connects as the app role. */
  readonly db: Database
  /** Connects as the worker role. */
  readonly worker: Database
  readonly catalog: Pick<Catalog, 'releaseStock'>
  readonly logger: Logger
}

/**
 * Releases the reservations that were left at TAKING, because their process ended or PostgreSQL was away. A process
 * that was only paused finds its reservation gone, and does not place the order. Replicas share the work.
 */
export const releaseAbandoned = (dependencies: Dependencies) => {
  const asking = new Tasks<string>()
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: dependencies.logger,
    tasks: asking,
    work: async () => ((await releaseBatch(dependencies, asking)) > 0 ? 0 : EVERY_MS),
  })
}

interface Abandoned {
  readonly workspaceId: string
  readonly livemode: boolean
  readonly ids: string[]
}

/**
 * Releases one batch, each workspace in a transaction of its own, and returns the number of released reservations. A
 * workspace whose transaction fails is logged, and the others go on. Meanwhile catalog is asked for the stock, by one
 * task of `asking` for a workspace.
 */
export async function releaseBatch(dependencies: Dependencies, asking: Tasks<string>): Promise<number> {
  const { db, logger } = dependencies
  let count = 0
  for (const { ids, ...workspace } of await findAbandoned(dependencies.worker)) {
    const context = contextOfWorker(NAME, workspace)
    const logged = { workspace_id: workspace.workspaceId }
    const release = () => db.inWorkspace(context, (tx) => releaseTakings(tx, ids))
    const released = (await failsAlone(logger, NAME, logged, release)) ?? []
    if (released.length === 0) continue
    logger.warn({ ...logged, released: released.length }, 'released abandoned reservations')
    if (!asking.has(context.workspaceId))
      asking.begin(context.workspaceId, () => askForStock(dependencies, context, released))
    count += released.length
  }
  return count
}

/** Asks for one after the other, until catalog fails once. What is left comes back once it consumes the records. */
async function askForStock(
  { catalog, logger }: Dependencies,
  context: RequestContext,
  reservations: readonly string[],
) {
  const until = performance.now() + ASKING_MS
  for (const reservation of reservations) {
    if (performance.now() > until) return
    try {
      await catalog.releaseStock(context, reservation)
    } catch (error) {
      return noteFailure(logger, context, reservation, 'call')(error)
    }
  }
}

/**
 * Finds reservations that are TAKING for 15 s, by the database's clock: a take has 3 s, and the transaction after it
 * rarely waits. Also those from a time when that clock was ahead (OP-302). The oldest of each workspace come first, so
 * that none waits for a workspace with many.
 */
const findAbandoned = ({ sql }: Database) => sql<Abandoned[]>`
  select workspace_id as "workspaceId", livemode, array_agg(id) as ids
  from (
    select workspace_id, livemode, id, row_number() over (partition by workspace_id order by created_at) as place
    from reservation
    where state = 'TAKING' and created_at not between now() - interval '15 seconds' and now() + interval '1 minute'
    order by place limit ${BATCH_SIZE}
  ) as oldest
  where place <= ${WORKSPACE_BATCH_SIZE}
  group by workspace_id, livemode`
