import { stillBusy } from '../queue/busy-deliveries.ts'
import { jobsOf } from '../queue/jobs-of.ts'
import { readBusy } from '../queue/read-due.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import type { Job } from '../scheduling/job.ts'
import { shardOf } from '../shards/shard-of.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'

interface ElsewhereOptions extends Pick<DispatcherOptions, 'sql' | 'directory'> {
  readonly queues: EndpointQueues
  /** Whether this process itself has made the attempt and not recorded it yet. */
  isFlying(job: Job): boolean
}

/**
 * The attempts that a former owner has in flight, or this process from before it lost their shards. Nothing is sent
 * behind them before they have ended.
 */
export class AttemptsElsewhere {
  readonly #options: ElsewhereOptions
  /** By delivery. */
  readonly #jobs = new Map<string, Job>()

  constructor(options: ElsewhereOptions) {
    this.#options = options
  }

  /** Adds an attempt in flight, which counts towards the limits of its endpoint. */
  add(job: Job): void {
    const { queues } = this.#options
    if (queues.holds(job.deliveryId)) return
    this.#jobs.set(job.deliveryId, job)
    queues.addInFlight(job, performance.now())
  }

  /** Forgets those of shards that are not this process's any more. */
  drop(shards: ReadonlySet<number>): void {
    for (const [id, { target }] of this.#jobs) if (shards.has(shardOf(target.id))) this.#jobs.delete(id)
  }

  /** Reads what former owners of some shards have in flight there. */
  async read(shards: ReadonlySet<number>): Promise<Job[]> {
    const { sql, directory } = this.#options
    const busy = (await readBusy(sql)).filter(({ endpointId }) => shards.has(shardOf(endpointId)))
    const workspaceIds = busy.map(({ workspaceId }) => workspaceId)
    const workspaces = busy.length > 0 ? await directory.of(sql, workspaceIds) : new Map()
    return jobsOf(busy, workspaces).jobs.map(({ job }) => job)
  }

  /** Looks into the table. Returns and forgets those that are recorded, or whose time is over: these are made again. */
  async ended() {
    const { sql, isFlying } = this.#options
    const jobs = [...this.#jobs.values()]
    if (jobs.length === 0) return []
    const marked = await stillBusy(sql, jobs)
    return jobs.flatMap((job) => {
      const isMarked = marked.get(job.deliveryId)
      const isBusy = isMarked === true || (isMarked === false && isFlying(job))
      if (isBusy || this.#jobs.get(job.deliveryId) !== job) return []
      this.#jobs.delete(job.deliveryId)
      return { job, isRecorded: isMarked === undefined }
    })
  }
}
