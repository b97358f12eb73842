import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { wakeSignal } from '@backoffice/runtime/wake-signal.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import type { Targets } from '../endpoints/targets.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { isFirst } from '../scheduling/job.ts'
import { bytesToRead, roomToRead } from '../scheduling/room.ts'
import type { Redaction } from '../shards/notify-due.ts'
import type { DueEndpoints } from './due-endpoints.ts'
import { type DueDelivery, eventOf, readDue, type Wanted } from './read-due.ts'

/** The pause after a reading, in milliseconds, so that one statement reads for many endpoints. */
const PAUSE_MS = 5
const TRY_AGAIN_MS = 1000
/** What one statement reads at most, about: it is not to keep others waiting. */
const LIMITS = { endpoints: 200, deliveries: 1024, bytes: 8 * 1024 * 1024 } as const
/** The least share of an endpoint in a reading, however many endpoints have due deliveries. */
const MIN_SHARE = 4
/** The share of first attempts in a reading for an endpoint that has them. */
const FIRST_ATTEMPTS_SHARE = 3 / 4

/**
 * How many first attempts and repeats to read for an endpoint with room for so many `jobs`: one of each at least, since
 * an endpoint is read through only when fewer were found than were asked for.
 */
export function readOfEach(jobs: number, hasFirstAttempts: boolean): { first: number; repeats: number } {
  if (!hasFirstAttempts) return { first: 0, repeats: jobs }
  const first = Math.max(1, Math.min(Math.ceil(jobs * FIRST_ATTEMPTS_SHARE), jobs - 1))
  return { first, repeats: Math.max(1, jobs - first) }
}

export interface DueReaderOptions {
  /** Of the worker role. */
  readonly sql: Sql
  readonly directory: EndpointDirectory
  readonly logger: Logger
  readonly clock: () => Date
  readonly queues: EndpointQueues
  readonly due: DueEndpoints
  onRead(read: ReadDeliveries): void
  /** Resolves when everything that is committed has been noted. */
  heard(): Promise<void>
}

export interface ReadDeliveries {
  /** Those that are in no queue, in their order. */
  readonly deliveries: readonly DueDelivery[]
  /** Their endpoints as they are now. */
  readonly workspaces: ReadonlyMap<string, Targets>
  /** By `eventOf`. */
  readonly bodies: ReadonlyMap<string, string>
}

/** A reading of due deliveries, and what happened since it began: it may have seen the table as it was before. */
export class Reading {
  /** The deliveries that were recorded: they are not to be sent as they were read. */
  readonly recorded = new Set<string>()
  /** The events, by `eventOf`, whose bodies were redacted: the reading may have them as they were before. */
  readonly redacted = new Set<string>()
  /** Shards were dropped: others may have sent, by now, what the reading still finds. */
  isDiscarded = false
  /** By endpoint, from which id on first attempts were noted: the reading may lack them. */
  readonly #noted = new Map<string, string>()

  /** First attempts of an endpoint are due, from this id on. */
  noteFirstAttempts(endpointId: string, firstId: string): void {
    const least = this.#noted.get(endpointId)
    if (least === undefined || firstId < least) this.#noted.set(endpointId, firstId)
  }

  /** Whether first attempts up to an id were noted that this reading may not have seen. */
  mayLack(endpointId: string, upTo: string): boolean {
    const least = this.#noted.get(endpointId)
    return least !== undefined && upTo !== '' && least <= upTo
  }
}

/** Reads due deliveries from the table for endpoints that have room in memory: endpoints in turn, some of each. */
export class DueReader {
  readonly #options: DueReaderOptions
  readonly #wakeSignal = wakeSignal()
  /** Undefined between readings, when nothing has to be remembered. */
  #reading: Reading | undefined
  #isStopping = false
  #running: Promise<void> | undefined

  constructor(options: DueReaderOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Reads as soon as an endpoint is due that has room. */
  wake(): void {
    this.#wakeSignal.wake()
  }

  noteRecorded(deliveryId: string): void {
    this.#reading?.recorded.add(deliveryId)
  }

  /**
   * First attempts of an endpoint from this id on are due; without an id, any. If they lie before the endpoint's
   * cursor, the next reading begins with the oldest again.
   */
  noteFirstAttempts(endpointId: string, firstId = ''): void {
    this.#reading?.noteFirstAttempts(endpointId, firstId)
    const queue = this.#options.queues.get(endpointId)
    if (queue?.readUpTo !== undefined && firstId <= queue.readUpTo) queue.readUpTo = undefined
  }

  /** Bodies of events have changed: the present reading is made again if it has one of them. */
  noteRedacted({ workspaceId, eventIds }: Redaction): void {
    for (const eventId of eventIds) this.#reading?.redacted.add(eventOf({ workspaceId, eventId }))
  }

  /** Shards were dropped: what the present reading finds is not sent. */
  discard(): void {
    if (this.#reading) this.#reading.isDiscarded = true
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { due, clock, logger } = this.#options
    while (!this.#isStopping) {
      try {
        const wanted = this.#wanted()
        if (wanted.length > 0) {
          await this.#read(wanted).finally(() => {
            this.#reading = undefined
          })
          await pause(PAUSE_MS)
          continue
        }
      } catch (error) {
        logger.warn({ err: error }, 'could not read due deliveries')
        await pause(TRY_AGAIN_MS)
      }
      await this.#wakeSignal.wait(Math.max(0, Math.min(TRY_AGAIN_MS, due.nextAt - clock().getTime())))
    }
  }

  /** Chooses due endpoints, in their turns, and how much to read of each. Parks those without room. */
  #wanted(): Wanted[] {
    const { due, queues, clock } = this.#options
    const ready = due.ready(clock().getTime())
    const fairShare = Math.max(MIN_SHARE, Math.floor(LIMITS.deliveries / ready.length))
    const wanted: Wanted[] = []
    let sum = 0
    for (const endpointId of ready) {
      if (wanted.length === LIMITS.endpoints || sum >= LIMITS.deliveries || bytesToRead(queues) === 0) break
      const jobs = Math.min(fairShare, roomToRead(queues, endpointId, performance.now()))
      if (jobs <= 0) {
        due.park(endpointId)
        continue
      }
      due.hadTurn(endpointId)
      sum += jobs
      const queue = queues.get(endpointId)
      const [after, held] = [queue?.readUpTo, queue?.firstAttempts ?? 0]
      const { first, repeats } = readOfEach(jobs, due.hasFirstAttempts(endpointId))
      // What is held is still due in the table: the limits grow by its number, but for first attempts before a cursor.
      const firstAttempts = first === 0 ? 0 : first + (after === undefined ? held : 0)
      wanted.push({ endpointId, after, firstAttempts, repeats: repeats + (queue?.repeats ?? 0) })
    }
    return wanted
  }

  async #read(wanted: readonly Wanted[]): Promise<void> {
    const { sql, directory, queues, due, clock, onRead, heard } = this.#options
    const [notes, now, maxBytes] = [due.notes, clock(), Math.min(LIMITS.bytes, bytesToRead(queues))]
    const reading = new Reading()
    this.#reading = reading
    const { deliveries: found, isCut } = await readDue(sql, wanted, now, maxBytes)
    // A reading from a cursor on passes over what was committed behind it; that is noted by then.
    if (wanted.some(({ after }) => after !== undefined)) await heard()
    const workspaces = await directory.of(
      sql,
      found.map(({ workspaceId }) => workspaceId),
    )
    if (reading.isDiscarded || found.some((each) => reading.redacted.has(eventOf(each)))) return
    // What was noted before a cursor may have to go first.
    const stale = new Set(
      wanted.flatMap(({ endpointId, after = '' }) => (reading.mayLack(endpointId, after) ? endpointId : [])),
    )
    const deliveries = found.filter((each) => !isFirst(each) || !stale.has(each.endpointId))
    onRead({
      deliveries: deliveries.filter(({ id }) => !reading.recorded.has(id) && !queues.holds(id)),
      workspaces,
      // One of those that are left out may have the body of an event.
      bodies: new Map(found.flatMap((each) => (each.body === null ? [] : [[eventOf(each), each.body]]))),
    })
    for (const delivery of deliveries) {
      const queue = isFirst(delivery) ? queues.get(delivery.endpointId) : undefined
      if (queue) queue.readUpTo = reading.mayLack(queue.endpointId, delivery.id) ? undefined : delivery.id
    }
    if (isCut) return
    const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId)
    for (const { endpointId, firstAttempts, repeats } of wanted) {
      const own = byEndpoint.get(endpointId) ?? []
      const first = own.filter(isFirst).length
      const isRead = (firstAttempts === 0 || first < firstAttempts) && own.length - first < repeats
      if (isRead) due.noteRead(endpointId, now.getTime(), notes)
    }
  }
}
