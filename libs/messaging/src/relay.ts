import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import type { Part } from '@backoffice/runtime/process.ts'
import { alarm } from './alarm.ts'
import { coalesced } from './coalesced.ts'
import { becomeLeader, type Leadership } from './leadership.ts'
import { keepHouse } from './outbox-housekeeping.ts'
import { type Publishing, publishWaiting } from './publish-waiting.ts'

export interface RelayOptions extends Publishing {
  /** Connects as the schema's worker role, straight to the server: the relay's lock belongs to a session. */
  readonly url: string
  /** How long published rows stay in the table, in milliseconds; an hour unless given. */
  readonly keepPublishedMs?: number
  /** Rows whose wake-up was lost wait up to this many milliseconds; 500 unless given. */
  readonly pollMs?: number
}

/** Publishes a schema's outbox. */
export interface OutboxRelay extends Part {
  start(): Promise<void>
  stop(): Promise<void>
  /** Says that rows were committed, so that they are published at once, by whichever process leads. */
  wake(): void
}

const MAX_BACKOFF_MS = 2000
const STOP_WITHIN_MS = 8000

/**
 * Publishes a schema's outbox to Kafka: every committed row at least once, and the rows of one key in the order of their
 * commits. Of all processes that run it, one leads; the others stand by. Woken by `wake`, here or in another process.
 */
export function outboxRelay(options: RelayOptions): OutboxRelay {
  const { url, schema, logger, keepPublishedMs = 60 * 60 * 1000, pollMs = 500 } = options
  const stopping = new AbortController()
  const rows = alarm()
  let leadership: Leadership | undefined
  let ended: Promise<unknown> | undefined
  const { sql: side } = openDatabase({
    url,
    applicationName: `${schema} relay housekeeping`,
    poolSize: 1,
    settings: { plan_cache_mode: 'force_custom_plan' },
  })
  const channel = `outbox_${schema}`
  const tellLeader = coalesced(() => side.notify(channel, ''))
  const isLeading = () => leadership !== undefined && !leadership.lost.aborted

  const lead = async () => {
    while (!stopping.signal.aborted) {
      leadership = await becomeLeader(url, schema, stopping.signal, logger)
      if (!leadership) return
      logger.info({ schema }, 'leads the outbox relay')
      await publishUntil(leadership)
      await leadership.resign()
    }
  }
  const publishUntil = async (leadership: Leadership) => {
    for (let failures = 0; isLeading() && !stopping.signal.aborted; ) {
      try {
        const published = await publishWaiting(leadership, options)
        failures = 0
        if (published === 0) await rows.wait(pollMs)
      } catch (error) {
        failures++
        logger.error({ err: error, schema, failures }, 'could not publish the outbox, trying again')
        await pauseUnless(stopping.signal, Math.min(100 * 2 ** failures, MAX_BACKOFF_MS))
      }
    }
  }

  return {
    name: 'relay',
    wake: () => (isLeading() ? rows.ring() : tellLeader()),
    async start() {
      // Listens anew by itself whenever the connection was lost, and looks then for what it has not heard of. Should even
      // the first attempt fail, the poll finds what other processes tell of.
      side.listen(channel, rows.ring, rows.ring).catch(() => undefined)
      const house = keepHouse(side, { schema, keepPublishedMs, stopping: stopping.signal, logger, isLeading })
      ended = Promise.all([lead(), house])
    },
    async stop() {
      stopping.abort()
      rows.ring()
      await Promise.race([ended, pause(STOP_WITHIN_MS, undefined, { ref: false })])
      await Promise.all([leadership?.resign(), side.end({ timeout: 1 })])
    },
  }
}
