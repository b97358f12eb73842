import type { Caller } from '@backoffice/http/internal-token.ts'

/** A token is replaced while this much of its life is left, so that none expires on its way. */
const LEFT_MS = 15_000

/**
 * The internal token of a caller, signed once and used again until it nears its end. It is kept with the caller object:
 * callers that have not changed must stay the same object, and a change makes a new token.
 */
export function callerTokens(
  sign: (caller: Caller, now: Date) => Promise<string>,
  lifetimeMs: number,
): (caller: Caller, now: Date) => Promise<string> {
  const tokens = new WeakMap<Caller, { token: Promise<string>; until: number }>()
  return (caller, now) => {
    const known = tokens.get(caller)
    if (known !== undefined && known.until > now.getTime()) return known.token
    const token = sign(caller, now)
    tokens.set(caller, { token, until: now.getTime() + lifetimeMs - LEFT_MS })
    return token
  }
}
