import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { Database } from '@backoffice/postgres/database.ts'

/** What was read is used for this time unless a change is announced: within it every change is in force. */
const FRESH_MS = 5_000
/** The longest wait for PostgreSQL, in milliseconds. */
const WITHIN_MS = 2_000

/** The channel on which the database announces a new or revoked operator token. */
const CHANGES = 'gateway_operators_changed'

/** A token that is in force now or was when it was read. */
export interface OperatorToken {
  readonly id: string
  /** The operator's name. */
  readonly name: string
  /** Milliseconds from its reading until it is refused, by the database's clock; null when it is not revoked. */
  readonly revokedInMs: number | null
}

/**
 * All operator tokens in memory: they are few, and a wrong token then costs no query. Reads them over a pool of the
 * worker role, and listens for changes.
 */
export class OperatorTokens {
  readonly #worker: Database
  #announced = 0
  #memory = { tokens: new Map<string, OperatorToken>(), readAt: Number.NEGATIVE_INFINITY, announced: 0 }
  #reading: Promise<void> | undefined

  constructor(worker: Database) {
    this.#worker = worker
  }

  async start(): Promise<void> {
    const onChange = () => {
      this.#announced++
    }
    // A lost connection misses announcements, so everything is read again when it is back.
    await this.#worker.sql.listen(CHANGES, onChange, onChange)
  }

  /** The token with this hash in memory, which is at most 5 s old. */
  async find(hash: string, now: Date): Promise<OperatorToken | undefined> {
    const { readAt, announced } = this.#memory
    // One that lies far ahead is from before the clock was set back.
    const isRecent = Math.abs(now.getTime() - readAt) < FRESH_MS
    if (!isRecent || announced !== this.#announced) {
      this.#reading ??= answerWithin(WITHIN_MS, this.#read(now)).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
    return this.#inForce(hash, now)
  }

  /** The token with this hash in the database: another process may have created it a moment ago. */
  async lookUp(hash: string, now: Date): Promise<OperatorToken | undefined> {
    await answerWithin(WITHIN_MS, this.#read(now))
    return this.#inForce(hash, now)
  }

  async #read(now: Date): Promise<void> {
    // Counted before the rows are read: a change that is announced meanwhile causes another reading.
    const announced = this.#announced
    const rows = await this.#worker.sql<(OperatorToken & { hash: string })[]>`
      select encode(token_hash, 'hex') as hash, id, name,
        (extract(epoch from revoked_at - clock_timestamp()) * 1000)::float8 as "revokedInMs"
      from operator_token where revoked_at is null or revoked_at > clock_timestamp()`
    const tokens = new Map(rows.map(({ hash, ...token }) => [hash, token]))
    this.#memory = { tokens, readAt: now.getTime(), announced }
  }

  #inForce(hash: string, now: Date): OperatorToken | undefined {
    const { tokens, readAt } = this.#memory
    const token = tokens.get(hash)
    const isOver = (token?.revokedInMs ?? Number.POSITIVE_INFINITY) <= now.getTime() - readAt
    return isOver ? undefined : token
  }
}
