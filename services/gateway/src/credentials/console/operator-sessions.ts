import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { invalidApiKey } from '../bearer-token.ts'
import { anyOf, endOfConsole, operatorIsThere } from '../keys/find-keys.ts'
import type { KeyFormat } from '../keys/key-format.ts'
import { type OperatorAuthenticator, WRONG_TOKENS } from '../operators/operator-authenticator.ts'
import { wrongAttempts } from '../wrong-attempts.ts'
import { storedForms } from './console-sessions.ts'

/** The longest wait for PostgreSQL, in milliseconds. */
const WITHIN_MS = 2_000

interface OperatorSession {
  /** The operator. */
  readonly name: string
  readonly expires_at: Date
}

/**
 * Finds the operator of a session of the console, by one statement each. After too many wrong cookies an address gets a
 * query only for tokens that the platform made.
 */
export function operatorSessions({ sql }: Database, format: KeyFormat, operators: OperatorAuthenticator) {
  const wrong = wrongAttempts(WRONG_TOKENS, 'session')
  return {
    /** Throws `invalid_api_key` when it is unknown or over, and `rate_limited` after too many wrong ones (OP-156). */
    async authenticate(text: string, address: string, now: Date): Promise<OperatorSession> {
      const verification = format.verify(text)
      // Counted before the query, so that the limit holds for simultaneous requests, too.
      if (verification !== 'authentic') wrong.count(address, now.getTime())
      const session =
        verification === 'malformed'
          ? undefined
          : await answerWithin(WITHIN_MS, findSession(sql, storedForms(text, operators)))
      if (session !== undefined && verification !== 'authentic') wrong.takeBack(address)
      if (session !== undefined) return session
      throw invalidApiKey('The session has ended; log in again', 'key_not_in_force')
    },
  }
}
export type OperatorSessions = ReturnType<typeof operatorSessions>

/** Undefined when it is over. Its use is written once a minute. */
async function findSession(worker: AnySql, hashes: readonly string[]) {
  const [session] = await worker<OperatorSession[]>`
    with used as (
      update console_session set last_used_at = clock_timestamp()
      where token_hash = ${anyOf(worker, hashes)} and operator is not null and ${endOfConsole(worker)} > clock_timestamp()
        and last_used_at < clock_timestamp() - interval '1 minute'
    )
    select operator as name, expires_at from console_session
    where token_hash = ${anyOf(worker, hashes)} and ${endOfConsole(worker)} > clock_timestamp() and ${operatorIsThere(worker)}`
  return session
}
