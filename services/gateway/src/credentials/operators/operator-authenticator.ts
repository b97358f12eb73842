import { scryptSync, timingSafeEqual } from 'node:crypto'
import type { Database } from '@backoffice/postgres/database.ts'
import { bearerToken, invalidApiKey } from '../bearer-token.ts'
import type { KeyUses } from '../key-uses.ts'
import { hashOf } from '../secret-text.ts'
import { wrongAttempts } from '../wrong-attempts.ts'
import { type OperatorToken, OperatorTokens } from './operator-tokens.ts'
import { isWellFormedToken } from './token-format.ts'

/** The name of the operator whose token is the setting ADMIN_TOKEN. No other operator has it. */
export const BOOTSTRAP = 'bootstrap'

/** Wrong tokens of one address: twenty at once, and twenty a minute (OP-156). */
export const WRONG_TOKENS = { perSecond: 20 / 60, burst: 20 }

/**
 * Finds the operator of a request. After too many wrong tokens an address is refused without a comparison or a query. A
 * right named token works even then, since others may share the address, and 256 random bits cannot be guessed.
 * `adminToken` does not: nobody knows how well it was chosen.
 */
export function operatorAuthenticator(worker: Database, adminToken: string, uses: Pick<KeyUses, 'note'>) {
  const tokens = new OperatorTokens(worker)
  const wrong = wrongAttempts(WRONG_TOKENS, 'operator token')

  function used({ id, name }: OperatorToken, now: Date): string {
    uses.note(id, now)
    return name
  }

  return {
    name: 'operator tokens',
    start: () => tokens.start(),
    /** Of ADMIN_TOKEN: another one ends what `bootstrap` has begun. A slow hash: nobody guesses the token by a row. */
    fingerprint: scryptSync(adminToken, BOOTSTRAP, 32),
    /**
     * The name of the operator behind an Authorization header from an address. Throws `invalid_api_key` when the token
     * is missing, unknown or revoked, and `rate_limited` after too many wrong tokens from the address (OP-86).
     */
    async authenticate(authorization: string | undefined, address: string, now: Date): Promise<string> {
      const token = bearerToken(authorization)
      if (token === undefined) throw invalidApiKey('Send an operator token: Authorization: Bearer <TOKEN>')
      const isWellFormed = isWellFormedToken(token)
      const known = isWellFormed ? await tokens.find(hashOf(token), now) : undefined
      if (known !== undefined) return used(known, now)
      const refusal = wrong.refusalOf(address, now.getTime())
      if (refusal !== undefined) throw refusal
      if (isSame(token, adminToken)) return BOOTSTRAP
      wrong.count(address, now.getTime())
      const added = isWellFormed ? await tokens.lookUp(hashOf(token), now) : undefined
      if (added !== undefined) return used(added, now)
      throw invalidApiKey('The operator token is unknown or has been deleted')
    },
  }
}
export type OperatorAuthenticator = ReturnType<typeof operatorAuthenticator>

/** Compares in constant time; hashes, so that the time does not depend on the lengths either. */
const isSame = (given: string, secret: string): boolean =>
  timingSafeEqual(Buffer.from(hashOf(given)), Buffer.from(hashOf(secret)))
