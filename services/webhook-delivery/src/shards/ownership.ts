import { setTimeout as pause } from 'node:timers/promises'
import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { type LockSession, openLockSession } from '@backoffice/postgres/lock-session.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { wakeSignal } from '@backoffice/runtime/wake-signal.ts'
import { balance, type Holdings } from './balance.ts'
import {
  DUE_CHANNEL,
  type Notification,
  REDACTED_CHANNEL,
  type Redaction,
  readNotification,
  readRedaction,
} from './notify-due.ts'
import { SHARDS, shardOf } from './shard-of.ts'

/** How often to look who holds what, in milliseconds. */
const BEAT_MS = 500
/** The only process has nobody to take shards from: to stay sure of its own it looks once in so many beats. */
const BEATS_ALONE = 2
/** The channel on which processes say that they have come, have handed over shards, or leave. */
const SHARDS_CHANNEL = 'webhook_delivery_shards'
/** Without an answer for so long this process sends nothing more, and asks for its shards anew. */
const ANSWER_WITHIN_MS = 5000
/**
 * PostgreSQL ends a session after so many times ANSWER_WITHIN_MS of silence. By then its process has long stopped
 * sending, so another may take its shards.
 */
const SILENCE = 2

const owned = gauge('webhook_shards_owned', 'Shards of webhook endpoints that this process owns, of 128 in all')

export interface OwnershipOptions {
  /** Connects as the worker role, to PostgreSQL itself. */
  readonly server: DatabaseServer
  readonly logger: Logger
  /** Names this process among the living ones, by 31 bits. */
  readonly processNumber: number
  /** Called with the numbers of processes that were there and have gone without a word. */
  onDied(processNumbers: readonly number[]): void
  /** Called with shards that are no other process's any more: they are this process's once it resolves. */
  onTaking(shards: readonly number[]): Promise<void>
  /** Called with shards that are this process's from now on. */
  onTaken(shards: readonly number[]): void
  /**
   * Called with shards that are to be handed over: nothing of them may start any more. They are free once it resolves.
   */
  onLeaving(shards: readonly number[]): Promise<void>
  /** Called with shards that perhaps belong to others already. */
  onLost(shards: readonly number[]): void
  onDue(notification: Notification): void
  onRedacted(redaction: Redaction): void
  /** In milliseconds. */
  readonly answerWithinMs?: number
  readonly beatMs?: number
}

/**
 * The shards that this process owns: only their owner sends to the endpoints in them. It holds an advisory lock for
 * each in one session, which PostgreSQL ends at once when the process dies, and soon when it stands still.
 */
export class Ownership {
  readonly #options: Required<OwnershipOptions>
  readonly #wakeSignal = wakeSignal()
  readonly #own = new Set<number>()
  readonly #leaving = new Set<number>()
  /** The numbers of the processes that were there at the last look, and of those that have said that they leave. */
  #living: ReadonlySet<number> = new Set()
  readonly #left = new Set<number>()
  #session: LockSession | undefined
  #isStopping = false
  #running: Promise<void> | undefined

  constructor(options: OwnershipOptions) {
    this.#options = { answerWithinMs: ANSWER_WITHIN_MS, beatMs: BEAT_MS, ...options }
  }

  /** Whether this process may send to an endpoint, or work on the backlog of a workspace. */
  owns(id: string): boolean {
    return this.has(id) && this.isSure
  }

  /** As far as this process knows: what it hears of such an endpoint counts, also while it is not sure. */
  has(id: string): boolean {
    const shard = shardOf(id)
    return this.#own.has(shard) && !this.#leaving.has(shard)
  }

  /** The shards that are this process's, without those that it is handing over. */
  get own(): number[] {
    return [...this.#own].filter((shard) => !this.#leaving.has(shard))
  }

  /** Whether the shards are this process's beyond doubt. */
  get isSure(): boolean {
    if (this.#session?.lost.aborted !== false) return false
    return this.#session.unconfirmedMs() < this.#options.answerWithinMs
  }

  /** Resolves when this process has heard of every commit until now: PostgreSQL tells a session before it answers. */
  async heard(): Promise<void> {
    await this.#ask((sql) => sql`select 1`)
  }

  async start(): Promise<void> {
    await this.#beat()
    this.#running = this.#run()
  }

  /** Hands over all shards. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wakeSignal.wake()
    await this.#running
    try {
      await this.#stopTakingPart()
      await this.#leave([...this.#own])
    } catch (error) {
      this.#options.logger.warn(
        { err: error },
        'could not hand over shards: others take them as those of a dead process',
      )
    }
    await this.#session?.close()
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const beats = this.#living.size > 1 ? 1 : BEATS_ALONE
      await this.#wakeSignal.wait(beats * this.#options.beatMs)
      if (this.#isStopping) return
      await this.#beat().catch(async (error) => {
        this.#options.logger.warn({ err: error }, 'the session that owns shards does not answer')
        await this.#session?.close()
        this.#lose()
        await pause(BEAT_MS)
      })
    }
  }

  async #beat(): Promise<void> {
    if (this.#session === undefined || this.#session.lost.aborted) await this.#open()
    const { take, leave } = balance(await this.#look())
    if (leave.length > 0) await this.#leave(leave)
    else if (take.length > 0) await this.#take(take)
    owned.record(this.#own.size)
  }

  /** Opens a session. The locks of the one before are lost. */
  async #open(): Promise<void> {
    this.#lose()
    this.#living = new Set()
    const { server, onDue, onRedacted, answerWithinMs, processNumber } = this.#options
    const session = openLockSession(
      server,
      'webhook-delivery shards',
      answerWithinMs,
      { idle_session_timeout: `${SILENCE * answerWithinMs}ms` },
      (channel, payload) => {
        if (session !== this.#session) return
        if (channel === DUE_CHANNEL) onDue(readNotification(payload))
        else if (channel === REDACTED_CHANNEL) onRedacted(readRedaction(payload))
        else this.#hear(payload)
      },
    )
    this.#session = session
    session.lost.addEventListener('abort', () => {
      if (session !== this.#session) return
      this.#lose()
      this.#wakeSignal.wake()
    })
    // Before any shard is read from the table, so that nothing comes in between.
    for (const channel of [DUE_CHANNEL, REDACTED_CHANNEL, SHARDS_CHANNEL])
      await this.#ask((sql) => sql`listen ${sql(channel)}`)
    await this.#ask(
      (sql) => sql`
        select pg_advisory_lock_shared(${ADVISORY_LOCKS.deliveryProcess}::integer, ${processNumber}::integer),
          pg_notify(${SHARDS_CHANNEL}, '')`,
    )
  }

  /** Another process has come, has handed over shards, or, with its number, leaves. */
  #hear(processNumber: string): void {
    if (processNumber !== '') this.#left.add(Number(processNumber))
    this.#wakeSignal.wake()
  }

  #lose(): void {
    if (this.#own.size === 0) return
    const lost = [...this.#own]
    this.#own.clear()
    this.#leaving.clear()
    owned.record(0)
    this.#options.onLost(lost)
  }

  async #look(): Promise<Holdings> {
    const { deliveryProcess, deliveryShard } = ADVISORY_LOCKS
    const locks = await this.#ask(
      (sql) => sql<{ what: number; number: number; isOwn: boolean }[]>`
        select classid::integer as what, objid::integer as number, pid = pg_backend_pid() as "isOwn" from pg_locks
        where locktype = 'advisory' and objsubid = 2 and granted
          and classid::integer in (${deliveryProcess}::integer, ${deliveryShard}::integer)
          and database = (select oid from pg_database where datname = current_database())`,
    )
    const shards = locks.filter(({ what }) => what === deliveryShard)
    const processes = locks.filter(({ what }) => what === deliveryProcess).map(({ number }) => number)
    this.#noteLiving(new Set(processes))
    return {
      processes: Math.max(1, processes.length),
      own: new Set(shards.filter(({ isOwn }) => isOwn).map(({ number }) => number)),
      others: new Set(shards.filter(({ isOwn }) => !isOwn).map(({ number }) => number)),
    }
  }

  #noteLiving(living: ReadonlySet<number>): void {
    const gone = [...this.#living].filter((number) => !living.has(number))
    this.#living = living
    const died = gone.filter((number) => !this.#left.delete(number))
    if (died.length > 0) this.#options.onDied(died)
  }

  async #take(wanted: readonly number[]): Promise<void> {
    const tried = await this.#ask(
      (sql) => sql<{ shard: number; isHeld: boolean }[]>`
        select shard, pg_try_advisory_lock(${ADVISORY_LOCKS.deliveryShard}::integer, shard) as "isHeld"
        from unnest(${[...wanted]}::integer[]) as shard`,
    )
    const taken = tried.filter(({ isHeld }) => isHeld).map(({ shard }) => shard)
    if (taken.length === 0) return
    await this.#options.onTaking(taken)
    for (const shard of taken) this.#own.add(shard)
    this.#options.logger.info({ shards: taken.length, own: this.#own.size, of: SHARDS }, 'took shards')
    this.#options.onTaken(taken)
  }

  async #leave(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return
    const { logger, onLeaving } = this.#options
    for (const shard of shards) this.#leaving.add(shard)
    await onLeaving(shards)
    await this.#ask(
      (sql) => sql`
        select count(pg_advisory_unlock(${ADVISORY_LOCKS.deliveryShard}::integer, shard)), pg_notify(${SHARDS_CHANNEL}, '')
        from unnest(${[...shards]}::integer[]) as shard`,
    )
    for (const shard of shards) {
      this.#own.delete(shard)
      this.#leaving.delete(shard)
    }
    logger.info({ shards: shards.length, own: this.#own.size, of: SHARDS }, 'handed over shards')
  }

  /** The others may take this process's part from now on. */
  async #stopTakingPart(): Promise<void> {
    const { processNumber } = this.#options
    // The others hear of it before they can see it.
    await this.#ask((sql) => sql`select pg_notify(${SHARDS_CHANNEL}, ${String(processNumber)})`)
    await this.#ask(
      (sql) => sql`
        select pg_advisory_unlock_shared(${ADVISORY_LOCKS.deliveryProcess}::integer, ${processNumber}::integer)`,
    )
  }

  async #ask<Answer>(statement: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    const session = this.#session
    if (session === undefined) throw new Error('there is no session')
    return session.answered(statement(session.sql))
  }
}
