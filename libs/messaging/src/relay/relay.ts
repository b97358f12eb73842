import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import type { LockSession } from '@backoffice/postgres/lock-session.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { hasRecentRequests } from '@backoffice/runtime/recent-requests.ts'
import { restingSignal } from '@backoffice/runtime/wake-signal.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { coalesceCalls } from '../kafka/coalesce-calls.ts'
import { cleanUpOutbox, measureOutbox } from './clean-up-outbox.ts'
import { becomeLeader, channelOf } from './leadership.ts'
import { outboxRounds } from './outbox-rounds.ts'
import { type LeaderPublishing, type Publishing, publishRows } from './publish-rows.ts'
import { HOLD_FOR_MS, releaseHeldRows } from './refused-rows.ts'
import { backlogOfStates, type StateThrottle, stateThrottle } from './state-throttle.ts'
import { UnmarkedRows } from './unmarked-rows.ts'

/** `url` connects as the schema's worker role, straight to the server: the relay's lock belongs to a session. */
export interface RelayOptions extends Publishing, DatabaseServer {
  /** How often to look for rows without a wake-up, in milliseconds; 500 unless given. Less often at rest. */
  readonly pollMs?: number
  /** How long the registry answers a leader before it refuses rows for their schema, in milliseconds; else an hour. */
  readonly refuseAfterMs?: number
}

const MAX_BACKOFF_MS = 2000
const STOP_WITHIN_MS = 8000
/** In a stream of commits, how long more of them are gathered after a small round, in milliseconds. */
const GATHER_MS = 5
/** Small rounds that follow each other without a wait until that is a stream. */
const STREAM = 3
/** How often to look for held rows whose time has come. */
const RELEASE_EVERY_MS = 1000

/**
 * Publishes a schema's outbox to Kafka: every committed row at least once, and the rows of one topic and key in the
 * order of their commits. Workspaces are served round robin. Of all processes that run it, one leads; the others stand
 * by.
 */
export function outboxRelay(options: RelayOptions) {
  const { url, ca, schema, logger } = options
  const unmarked = new UnmarkedRows()
  const stopping = new AbortController()
  const rowsAdded = restingSignal()
  let leader: LockSession | undefined
  let ended: Promise<void> | undefined
  const applicationName = `${schema} relay clean-up`
  const db = openDatabase({ url, ca, applicationName, poolSize: 1, settings: PLAN_EACH_TIME })
  const { sql } = db
  const notifyLeader = coalesceCalls(() => sql.notify(channelOf(schema), ''))
  const throttle = stateThrottle(() => backlogOfStates(options.kafka), logger)
  const isLeading = () => leader !== undefined && !leader.lost.aborted
  const workers = [
    measureOutbox(db, schema, logger, isLeading),
    cleanUpOutbox(sql, logger, isLeading),
    worker({
      name: 'held outbox rows',
      everyMs: RELEASE_EVERY_MS,
      logger,
      async work() {
        if (isLeading() && (await releaseHeldRows(sql)) > 0) rowsAdded.wake()
      },
    }),
  ]
  const lead = async () => {
    while (!stopping.signal.aborted) {
      leader = await becomeLeader({ url, ca }, schema, stopping.signal, logger, rowsAdded.wake)
      if (!leader) return
      logger.info({ schema }, 'leads the outbox relay')
      const publishing = { refuseAfterMs: HOLD_FOR_MS, ...options, unmarked, answersSince: performance.now() }
      await publishWhileLeading(leader, publishing, throttle, rowsAdded, stopping.signal)
      await leader.close()
    }
  }
  return {
    name: 'relay',
    /** Call it after rows were committed: the leading process, this one or another, publishes them at once. */
    wake: () => (isLeading() ? rowsAdded.wake() : notifyLeader()),
    rouse() {
      rowsAdded.rouse()
      for (const each of workers) each.rouse?.()
    },
    async start() {
      ended = lead()
      for (const each of workers) await each.start?.()
    },
    async stop() {
      stopping.abort()
      rowsAdded.wake()
      const done = Promise.all([ended, ...workers.map((each) => each.stop?.())])
      await Promise.race([done, pause(STOP_WITHIN_MS, undefined, { ref: false })])
      await Promise.all([leader?.close(), sql.end({ timeout: 1 })])
    },
  }
}

/** Publishes round after round, until the process stops or no longer leads. */
async function publishWhileLeading(
  session: LockSession,
  options: RelayOptions & LeaderPublishing,
  throttle: StateThrottle,
  rowsAdded: ReturnType<typeof restingSignal>,
  stopping: AbortSignal,
): Promise<void> {
  const { schema, logger, unmarked, pollMs = 500 } = options
  const nextRound = outboxRounds(session, throttle, hasRecentRequests)
  let inStream = 0
  // It no longer hears of rows: another leader has to, at once.
  session.lost.addEventListener('abort', rowsAdded.wake, { once: true })
  for (let failures = 0; !session.lost.aborted && !stopping.aborted; ) {
    try {
      await unmarked.mark(session)
      const { rows, isAll } = await nextRound()
      if (rows.length > 0) await publishRows(session, rows, options)
      failures = 0
      // What was committed since the round began has woken the relay.
      if (!isAll) continue
      const endedAt = performance.now()
      const pausedForMs = throttle.pausedForMs()
      // For rows of a process that died before its notification, or of one that could not send it.
      await (pausedForMs < pollMs ? rowsAdded.wait(pausedForMs) : rowsAdded.rest(pollMs))
      inStream = performance.now() - endedAt < 1 ? inStream + 1 : 0
      if (inStream >= STREAM) await pauseUnless(stopping, GATHER_MS)
    } catch (error) {
      failures++
      logger.error(
        { err: error, schema, failures, unmarked: unmarked.size },
        'could not publish the outbox, trying again',
      )
      await pauseUnless(stopping, Math.min(100 * 2 ** failures, MAX_BACKOFF_MS))
    }
  }
}
