/* A session of support writes only with a reason (OP-291). The dialog asks once for each request that writes. */

type Ask = (request: Request) => Promise<string>
let ask: Ask | undefined

/** Sets what asks for the reason: while a session of support is open, and not otherwise. */
export function askForReasons(by: Ask | undefined): void {
  ask = by
}

/** The reason of a write in a session of support; undefined in any other session. Rejects when nobody gives one. */
export const supportReason = async (request: Request): Promise<string | undefined> => ask?.(request)
