import { Worker } from 'node:worker_threads'
import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { RoundRobin } from '@backoffice/runtime/round-robin.ts'
import { LRUCache } from 'lru-cache'
import type { FormTask, FormThreadMessage } from './form-thread.ts'

/** A task that waits or runs. */
interface Job {
  readonly workspaceId: string
  readonly task: FormTask
  /** The characters it keeps in memory. */
  readonly size: number
  readonly done: PromiseWithResolvers<void>
  /** Until it has waited too long. */
  readonly timer: NodeJS.Timeout
}

interface Thread {
  readonly worker: Worker
  /** It is ready once it has loaded its modules. */
  state: 'starting' | 'ready' | 'ending'
  /** Processor time since its start, as of the end of its last job. */
  usedMicros: number
  job: Job | undefined
  /** Until its job's deadline, or until the end of an idle thread. */
  timer: NodeJS.Timeout | undefined
  /** Why it ends. */
  error: unknown
}

const MAX_THREADS = 2
const IDLE_MS = 60_000
/** The most processor time of a job, in milliseconds. Elapsed time would depend on the load of the machine. */
const BUDGET_MS = { schema: 250, order: 500 }
/** The most characters of a workspace's waiting jobs. */
const MAX_WAITING = 8 * 1024 * 1024
const JOB_SIZE = 4096
/** How long a job may wait. The gateway gives up after 20 s; an order created later is one that nobody hears of. */
const WAIT_MS = 10_000
const SUSPECT_MS = 60_000
const RESOURCES = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 12 }

/**
 * Checks workspaces' order forms, and orders against them, in threads: no form can stall the process or another
 * workspace. Threads start when first needed and end after `idleMs` without a job. A job that uses up its processor
 * time ends with its thread, and another thread is started. Workspaces take turns, with one running job each; those
 * whose job was ended within the last minute share one thread, so that they never occupy all.
 */
export class FormValidator implements Component {
  readonly name = 'form validator'
  readonly #idleMs: number
  readonly #maxThreads: number
  readonly #waitMs: number
  readonly #budgetMs: typeof BUDGET_MS
  readonly #threads = new Set<Thread>()
  readonly #waiting = new RoundRobin<Job>()
  readonly #suspects = new LRUCache<string, true>({ max: 1000, ttl: SUSPECT_MS })
  #isStopped = false

  constructor({ idleMs = IDLE_MS, maxThreads = MAX_THREADS, waitMs = WAIT_MS, budgetMs = BUDGET_MS } = {}) {
    this.#idleMs = idleMs
    this.#maxThreads = maxThreads
    this.#waitMs = waitMs
    this.#budgetMs = budgetMs
  }

  /** The number of threads that run now. */
  get threadCount(): number {
    return this.#threads.size
  }

  /**
   * Checks a new schema. Throws `bad_request` or `unprocessable` with the path of what is wrong, `unprocessable` for a
   * schema that is too costly, and `rate_limited` while too much of the workspace waits, or after too long a wait.
   */
  checkSchema(workspaceId: string, schema: string): Promise<void> {
    return this.#submit(workspaceId, { schema })
  }

  /**
   * Checks an order. `version` is that of the schema. Throws `bad_request` with the path, and as `checkSchema` does.
   */
  checkOrder(workspaceId: string, version: number, schema: string, order: string): Promise<void> {
    return this.#submit(workspaceId, { schema, order, key: `${workspaceId} ${version}` })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#failWaiting(new ApiError('service_unavailable', 'The service is stopping; try again shortly'))
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  async #submit(workspaceId: string, task: FormTask): Promise<void> {
    const size = JOB_SIZE + (task.order ?? task.schema).length
    const jobs = [...this.#waiting.of(workspaceId)]
    if (jobs.reduce((sum, job) => sum + job.size, size) > MAX_WAITING) throw tooManyWait()
    const done = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#failWaitingJob(job, tooManyWait()), this.#waitMs)
    const job: Job = { workspaceId, task, size, done, timer }
    this.#waiting.add(workspaceId, job)
    this.#dispatch()
    await done.promise
  }

  /** Gives jobs to idle threads, and starts a thread when a job is left. */
  #dispatch(): void {
    for (const thread of this.#threads) {
      const job = thread.state === 'ready' && thread.job === undefined ? this.#nextJob() : undefined
      if (job === undefined) continue
      this.#waiting.serve(job.workspaceId, job)
      clearTimeout(job.timer)
      this.#run(thread, job)
    }
    const isStarting = [...this.#threads].some(({ state }) => state === 'starting')
    const mayStart = this.#threads.size < this.#maxThreads && !isStarting && !this.#isStopped
    if (mayStart && this.#nextJob() !== undefined) this.#startThread()
  }

  #nextJob(): Job | undefined {
    const running = [...this.#threads].flatMap(({ job }) => job?.workspaceId ?? [])
    const hasSuspect = running.some((workspaceId) => this.#suspects.has(workspaceId))
    for (const [workspaceId, job] of this.#waiting) {
      if (!running.includes(workspaceId) && !(hasSuspect && this.#suspects.has(workspaceId))) return job
    }
    return undefined
  }

  #run(thread: Thread, job: Job): void {
    thread.job = job
    setTimer(thread, this.#budgetOf(job), () => this.#endIfTooCostly(thread, job))
    thread.worker.postMessage(job.task)
  }

  async #endIfTooCostly(thread: Thread, job: Job): Promise<void> {
    // Rejects when the thread ends meanwhile.
    const used = await thread.worker.cpuUsage().catch(() => undefined)
    if (used === undefined || thread.job !== job) return
    const leftMs = this.#budgetOf(job) - (used.user + used.system - thread.usedMicros) / 1000
    if (leftMs > 0) return setTimer(thread, leftMs, () => this.#endIfTooCostly(thread, job))
    thread.error = tooCostly(job)
    end(thread)
  }

  #budgetOf({ task }: Job): number {
    return task.order === undefined ? this.#budgetMs.schema : this.#budgetMs.order
  }

  #startThread(): void {
    const worker = new Worker(new URL('./form-thread.ts', import.meta.url), { execArgv: [], resourceLimits: RESOURCES })
    const none = { job: undefined, timer: undefined, error: undefined }
    const thread: Thread = { worker, state: 'starting', usedMicros: 0, ...none }
    this.#threads.add(thread)
    worker.on('message', (message: FormThreadMessage) => this.#finish(thread, message))
    worker.on('error', (error) => {
      thread.error = error
    })
    worker.on('exit', () => this.#remove(thread))
  }

  /** The thread is ready, or has done its job. */
  #finish(thread: Thread, { usedMicros, refusal }: FormThreadMessage): void {
    const { job, state } = thread
    if (state === 'ending') return
    Object.assign(thread, { state: 'ready', usedMicros, job: undefined })
    setTimer(thread, this.#idleMs, () => end(thread))
    if (refusal) job?.done.reject(new ApiError(refusal.code, refusal.reason, { path: refusal.path }))
    else job?.done.resolve()
    this.#dispatch()
  }

  /** The thread has ended, so its job fails; all waiting jobs fail if it was never ready: no other thread would be. */
  #remove(thread: Thread): void {
    const { job, state, error = new Error('the thread has ended') } = thread
    this.#threads.delete(thread)
    clearTimeout(thread.timer)
    if (job) {
      this.#suspects.set(job.workspaceId, true)
      job.done.reject(isOutOfMemory(error) ? tooCostly(job) : error)
    }
    if (state === 'starting') this.#failWaiting(error)
    this.#dispatch()
  }

  #failWaiting(error: unknown): void {
    for (const [workspaceId] of [...this.#waiting]) {
      for (const job of this.#waiting.of(workspaceId)) this.#failWaitingJob(job, error)
    }
  }

  #failWaitingJob(job: Job, error: unknown): void {
    clearTimeout(job.timer)
    this.#waiting.remove(job.workspaceId, job)
    job.done.reject(error)
  }
}

/** Ends a thread; it gets no job any more. */
function end(thread: Thread): void {
  thread.state = 'ending'
  void thread.worker.terminate()
}

function setTimer(thread: Thread, ms: number, then: () => unknown): void {
  clearTimeout(thread.timer)
  thread.timer = setTimeout(then, ms).unref()
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

const tooCostly = ({ task }: Job) =>
  task.order === undefined
    ? unprocessable(['schema'], 'is too costly to compile; use fewer or simpler subschemas and patterns', 'too_costly')
    : unprocessable(
        [],
        "The workspace's order form is too costly for this order; simplify its schema, or send a smaller order",
        'too_costly',
      )

const tooManyWait = () =>
  new ApiError('rate_limited', "Too many orders wait for the check by the workspace's order form; try again shortly", {
    errorReason: 'too_many_at_once',
  })
