import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'

/** What was read is used for this time unless a change is announced: within it every change is in force. */
const FRESH_MS = 5_000
/** The time of the last use is written at most this often. */
const USE_WRITTEN_EVERY_MS = 60_000
/** The longest wait for PostgreSQL, in milliseconds. */
const WITHIN_MS = 2_000

/** The channel on which the database announces a new or revoked operator token. */
const CHANGES = 'gateway_operators_changed'

/** A token that is in force now or was when it was read. */
export interface OperatorToken {
  readonly id: string
  /** The operator's name. */
  readonly name: string
  /** The time until the token is refused, in milliseconds from its reading by the database's clock; null when it is not revoked. */
  readonly revokedInMs: number | null
}

/** All operator tokens in memory: they are few, and a wrong token then costs no query. As a component it listens for changes. */
export interface OperatorTokens extends Component {
  /** The token with this hash in memory, which is at most 5 s old. */
  find(hash: string, now: Date): Promise<OperatorToken | undefined>
  /** The token with this hash in the database: another process may have created it a moment ago. */
  lookUp(hash: string, now: Date): Promise<OperatorToken | undefined>
  /** Writes when a token was used last, at most once a minute. */
  recordUse(id: string, now: Date): Promise<void>
}

/** Reads the operator tokens over a pool of the worker role. */
export function operatorTokens(worker: Database): OperatorTokens {
  let announced = 0
  let memory = { tokens: new Map<string, OperatorToken>(), readAt: 0, until: 0, announced }
  let reading: Promise<void> | undefined
  const usedAt = new Map<string, number>()

  async function read(now: Date): Promise<void> {
    // Counted before the rows are read: a change that is announced meanwhile causes another reading.
    const seen = announced
    const rows = await worker.sql<(OperatorToken & { hash: string })[]>`
      select encode(token_hash, 'hex') as hash, id, name,
        (extract(epoch from revoked_at - clock_timestamp()) * 1000)::float8 as "revokedInMs"
      from operator_token where revoked_at is null or revoked_at > clock_timestamp()`
    const tokens = new Map(rows.map(({ hash, ...token }) => [hash, token]))
    memory = { tokens, readAt: now.getTime(), until: now.getTime() + FRESH_MS, announced: seen }
  }

  const inForce = (hash: string, now: Date) => {
    const token = memory.tokens.get(hash)
    const isOver = (token?.revokedInMs ?? Number.POSITIVE_INFINITY) <= now.getTime() - memory.readAt
    return isOver ? undefined : token
  }

  return {
    name: 'operator tokens',
    async start() {
      const onChange = () => {
        announced++
      }
      // A lost connection misses announcements, so everything is read again when it is back.
      await worker.sql.listen(CHANGES, onChange, onChange)
    },
    async find(hash, now) {
      const isFresh = memory.until > now.getTime() && memory.announced === announced
      if (!isFresh) {
        reading ??= answerWithin(WITHIN_MS, read(now)).finally(() => {
          reading = undefined
        })
        await reading
      }
      return inForce(hash, now)
    },
    async lookUp(hash, now) {
      await answerWithin(WITHIN_MS, read(now))
      return inForce(hash, now)
    },
    async recordUse(id, now) {
      const before = now.getTime() - USE_WRITTEN_EVERY_MS
      if ((usedAt.get(id) ?? 0) > before) return
      usedAt.set(id, now.getTime())
      await worker.sql`
        update operator_token set last_used_at = ${now}
        where id = ${id} and (last_used_at is null or last_used_at <= ${new Date(before)})`
    },
  }
}
