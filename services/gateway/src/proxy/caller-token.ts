import { type Caller, TOKEN_LIFETIME_MS } from '@backoffice/http/internal-token.ts'

/** A token is replaced this long before it expires, so that it does not expire on its way. */
const LEFT_MS = 15_000

/**
 * Returns the internal token of a caller: signed once, then reused until shortly before it expires. The token belongs to the
 * caller object: an unchanged caller has to stay the same object, a changed one has to be a new object.
 */
export function callerTokens(sign: (caller: Caller, now: Date) => Promise<string>): typeof sign {
  const tokens = new WeakMap<Caller, { token: Promise<string>; until: number }>()
  return (caller, now) => {
    const known = tokens.get(caller)
    if (known !== undefined && known.until > now.getTime()) return known.token
    const token = sign(caller, now)
    tokens.set(caller, { token, until: now.getTime() + TOKEN_LIFETIME_MS - LEFT_MS })
    return token
  }
}
