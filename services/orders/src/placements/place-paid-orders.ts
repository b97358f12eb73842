import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { inRun } from '@backoffice/runtime/spans.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { contextOfWorker } from '../catalog/context-of-worker.ts'
import { ATTEMPT_S, isDue, tryPlacement } from './placement.ts'

const NAME = 'placements'
const EVERY_MS = 2000
/** Orders of a workspace that are placed at once, before the next workspace has its turn. */
const TOGETHER = 4
/** Workspaces whose orders are being placed at once: catalog may take its time for one of them. */
const WORKSPACES = 2

interface Dependencies {
  /** Connects as the app role. */
  readonly db: Database
  /** Connects as the worker role. */
  readonly worker: Database
  readonly logger: Logger
  readonly place: (context: RequestContext, order: string, now: Date) => Promise<unknown>
}

interface Waiting {
  readonly workspaceId: string
  readonly livemode: boolean
}

/**
 * Places the paid orders whose first attempt failed, or whose process ended before it (OP-47). Workspaces take turns,
 * and replicas share the work: who claims an order has it for some seconds.
 */
export function placePaidOrders(options: Dependencies) {
  const { db, logger, place } = options
  /** The workspaces whose orders are being placed. */
  const placing = new Tasks<string>()
  const nextWorkspace = workspacesInTurn<Waiting>(
    options.worker.sql,
    () => options.worker.sql`
      select workspace_id as "workspaceId", livemode from placement
      where ${isDue(options.worker.sql)} and workspace_id <> all(${placing.items}::uuid[])`,
  )
  async function placeSome(workspace: Waiting, orders: readonly string[]): Promise<void> {
    const context = contextOfWorker(NAME, workspace)
    const tryOne = (id: string) => tryPlacement({ db, logger }, context, id, () => place(context, id, currentTime()))
    await Promise.all(orders.map(tryOne))
  }
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    tasks: placing,
    work: async () => {
      if (placing.size === WORKSPACES) return EVERY_MS
      const next = await nextWorkspace()
      if (next === undefined) return undefined
      const orders = await db.inWorkspace(contextOfWorker(NAME, next), claim)
      if (orders.length > 0) placing.begin(next.workspaceId, () => inRun('placement', () => placeSome(next, orders)))
      return 0
    },
  })
}

async function claim(tx: Transaction): Promise<string[]> {
  const workspace = tx.context.workspaceId
  const claimed = await tx<{ id: string }[]>`
    update placement set next_attempt_at = now() + make_interval(secs => ${ATTEMPT_S})
    where workspace_id = ${workspace} and order_id = any(array(
      select order_id from placement where workspace_id = ${workspace} and ${isDue(tx)}
      order by next_attempt_at limit ${TOGETHER} for update skip locked
    ))
    returning order_id as id`
  return claimed.map(({ id }) => id)
}
