import type { Sql } from '@backoffice/postgres/database.ts'
import { openSession } from '@backoffice/postgres/session.ts'

/** First key of the advisory locks that claimers hold; the second is the claimer. */
export const CLAIMER_LOCK = 7_021_002

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

export interface ClaimerOptions {
  /** Connects as the worker role. */
  readonly url: string
  /** Called when the lock was lost and is held again: some claims may belong to others by now. */
  onRegained(id: number): Promise<void>
}

export function claimer({ url, onRegained }: ClaimerOptions): Claimer {
  let id: number | undefined
  let isHeld = false
  let session: Sql | undefined
  let timer: NodeJS.Timeout | undefined
  let beating: Promise<void> = Promise.resolve()
  let isStopping = false

  const takeLock = async () => {
    const opened = openSession(url, 'webhook-delivery claimer', () => void drop(opened))
    session = opened
    const isNew = id === undefined
    id ??= await answered(newId(opened))
    if (!(await answered(isLocked(opened, id)))) throw new Error(`another session holds the lock of claimer ${id}`)
    if (!isNew) await onRegained(id)
    isHeld = session === opened
  }
  const drop = async (dropped: Sql | undefined) => {
    if (dropped === undefined || session !== dropped) return
    session = undefined
    isHeld = false
    await dropped.end({ timeout: 1 }).catch(() => undefined)
  }
  const beat = async () => {
    try {
      if (session === undefined) await takeLock()
      else await answered(session`select 1`)
    } catch {
      await drop(session)
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
      return isHeld ? id : undefined
    },
    async start() {
      await takeLock()
      beatLater()
    },
    async stop() {
      isStopping = true
      clearTimeout(timer)
      await beating
      await drop(session)
    },
  }
}

async function newId(session: Sql): Promise<number> {
  const [row] = await session<[{ id: number }]>`select nextval('claimer')::integer as id`
  return row.id
}

async function isLocked(session: Sql, id: number): Promise<boolean> {
  const [row] = await session<[{ held: boolean }]>`
    select pg_try_advisory_lock(${CLAIMER_LOCK}::integer, ${id}::integer) as held`
  return row.held
}

async function answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('PostgreSQL does not answer')), ANSWER_WITHIN_MS)
  })
  return Promise.race([asked, silence]).finally(() => clearTimeout(timer))
}
