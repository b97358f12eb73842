import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { type LockSession, openLockSession } from '@backoffice/postgres/lock-session.ts'

const BEAT_MS = 1000
/** A beat without an answer for so long means that the lock may be lost. */
const ANSWER_WITHIN_MS = 5000

/**
 * The number under which this process claims deliveries, and its sign of life: an advisory lock on the number, which
 * PostgreSQL drops the moment the process dies. A claim whose claimer has had no lock for some seconds is free.
 */
export interface Claimer {
  /** Undefined while the lock is not held: then nothing may be claimed or sent. */
  readonly id: number | undefined
  start(): Promise<void>
  stop(): Promise<void>
}

/** `url` connects as the worker role. */
export interface ClaimerOptions extends DatabaseServer {
  /** Called when the lock was lost and is held again: some claims may belong to others by now. */
  onRegained(id: number): Promise<void>
}

export function claimer({ url, ca, onRegained }: ClaimerOptions): Claimer {
  let id: number | undefined
  let isHeld = false
  let session: LockSession | undefined
  let timer: NodeJS.Timeout | undefined
  let beating: Promise<void> = Promise.resolve()
  let isStopping = false

  const takeLock = async () => {
    isHeld = false
    session = openLockSession({ url, ca }, 'webhook-delivery claimer', ANSWER_WITHIN_MS)
    const { sql, answered } = session
    const isNew = id === undefined
    id ??= await answered(newId(sql))
    if (!(await answered(isLocked(sql, id)))) throw new Error(`another session holds the lock of claimer ${id}`)
    if (!isNew) await onRegained(id)
    isHeld = true
  }
  const beat = async () => {
    try {
      if (session === undefined || session.lost.aborted) await takeLock()
      else await session.answered(session.sql`select 1`)
    } catch {
      await session?.close()
    }
  }
  const beatLater = () => {
    if (isStopping) return
    timer = setTimeout(() => {
      beating = beat().then(beatLater)
    }, BEAT_MS)
  }

  return {
    get id() {
      return isHeld && !session?.lost.aborted ? id : undefined
    },
    async start() {
      await takeLock()
      beatLater()
    },
    async stop() {
      isStopping = true
      clearTimeout(timer)
      await beating
      await session?.close()
    },
  }
}

async function newId(session: Sql): Promise<number> {
  const [row] = await session<[{ id: number }]>`select nextval('claimer')::integer as id`
  return row.id
}

async function isLocked(session: Sql, id: number): Promise<boolean> {
  const [row] = await session<[{ held: boolean }]>`
    select pg_try_advisory_lock(${ADVISORY_LOCKS.claimer}::integer, ${id}::integer) as held`
  return row.held
}
