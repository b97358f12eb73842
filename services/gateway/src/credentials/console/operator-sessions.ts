import type { ApiError } from '@backoffice/contracts/errors.ts'
import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { LRUCache } from 'lru-cache'
import { invalidApiKey } from '../bearer-token.ts'
import type { KeyUses } from '../key-uses.ts'
import { endOfConsole, operatorIsThere } from '../keys/find-keys.ts'
import type { KeyFormat } from '../keys/key-format.ts'
import { type OperatorAuthenticator, WRONG_TOKENS } from '../operators/operator-authenticator.ts'
import { hashOf } from '../secret-text.ts'
import { wrongAttempts } from '../wrong-attempts.ts'

/** The longest wait for PostgreSQL, in milliseconds. */
const WITHIN_MS = 2_000
/** Texts in memory that open nothing any more. */
const MAX_OVER = 10_000

interface OperatorSession {
  readonly id: string
  /** The operator. */
  readonly name: string
  readonly expires_at: Date
}

interface OperatorSessionsOptions {
  readonly worker: Database
  readonly format: KeyFormat
  readonly operators: OperatorAuthenticator
  readonly uses: Pick<KeyUses, 'note'>
}

/**
 * Finds the operator of a session of the console, by one statement each. After too many wrong cookies an address gets a
 * query only for tokens that the platform made, and for one that opens nothing once: every merchant has such tokens.
 */
export function operatorSessions({ worker, format, operators, uses }: OperatorSessionsOptions) {
  const wrong = wrongAttempts(WRONG_TOKENS, 'session')
  const over = new LRUCache<string, true>({ max: MAX_OVER })
  return {
    /** As that of API keys (`Authenticator`): without a query and, in a flood, without a log line. */
    refuseEarly(textOf: () => string | undefined, address: string, now: Date): ApiError | undefined {
      const refusal = wrong.refusalOf(address, now.getTime())
      const text = refusal && textOf()
      if (text === undefined) return undefined
      return over.has(hashOf(text)) || !format.isAuthentic(text) ? refusal : undefined
    },
    /** Throws `invalid_api_key` when it is unknown or over, and `rate_limited` after too many wrong ones (OP-156). */
    async authenticate(text: string, address: string, now: Date): Promise<Omit<OperatorSession, 'id'>> {
      const hash = hashOf(text)
      const verification = over.has(hash) ? 'malformed' : format.verify(text)
      // Counted before the query, so that the limit holds for simultaneous requests, too.
      if (verification !== 'authentic') wrong.count(address, now.getTime())
      const session =
        verification === 'malformed'
          ? undefined
          : await answerWithin(WITHIN_MS, findSession(worker.sql, hash, operators.fingerprint))
      if (session === undefined) {
        over.set(hash, true)
        throw invalidApiKey('The session has ended; log in again', 'key_not_in_force')
      }
      if (verification !== 'authentic') wrong.takeBack(address)
      const { id, ...shown } = session
      uses.note(id, now)
      return shown
    },
  }
}
export type OperatorSessions = ReturnType<typeof operatorSessions>

/** Undefined when it is over. */
async function findSession(worker: AnySql, hash: string, fingerprint: Buffer) {
  const [session] = await worker<OperatorSession[]>`
    select id, operator as name, expires_at from console_session
    where token_hash = ${Buffer.from(hash, 'hex')} and ${endOfConsole(worker)} > clock_timestamp()
      and ${operatorIsThere(worker, fingerprint)}`
  return session
}
