import type { Logger } from './logger.ts'
import { counter } from './metrics.ts'

const failures = counter('worker_failures', 'Work in the background that failed, by the worker that does it')

const counts = new Map<string, number>()

/** How often work of a worker has failed since the process started. */
export const failuresOf = (worker: string): number => counts.get(worker) ?? 0

/** What failed: members of the log line, such as `workspace_id`. */
type Ids = Readonly<Record<`${string}_id`, string | undefined>>

/** Logs and counts work of a worker that failed. Who calls it tries again, unless `what` says otherwise. */
export function noteFailure(
  logger: Logger,
  worker: string,
  error: unknown,
  ids: Ids = {},
  what = 'it is tried again',
): void {
  counts.set(worker, failuresOf(worker) + 1)
  failures.add(1, { worker })
  logger.warn({ err: error, worker, ...ids }, `work failed; ${what}`)
}

/**
 * Does a worker's work on one of several items. Does not throw: a failure is noted, the next item has its turn, and a
 * later run of the worker finds the item again. Returns undefined then.
 */
export async function failsAlone<Result>(
  logger: Logger,
  worker: string,
  ids: Ids,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    noteFailure(logger, worker, error, ids)
    return undefined
  }
}
