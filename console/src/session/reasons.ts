/* A session of support writes only with a reason (OP-291). The dialog asks once for each act that writes. */

type Ask = (request: Request) => Promise<string>
let ask: Ask | undefined
/** How many acts are under way, and the reason of one that is alone. */
let acts = 0
let given: Promise<string> | undefined

/** Sets what asks for the reason: while a session of support is open, and not otherwise. */
export function askForReasons(by: Ask | undefined): void {
  ask = by
}

/** Does what asks for its reason once, however many requests it sends. Of acts side by side each request asks. */
export async function withOneReason<Result>(act: () => Promise<Result>): Promise<Result> {
  acts += 1
  given = undefined
  try {
    return await act()
  } finally {
    acts -= 1
    given = undefined
  }
}

/** The reason of a write in a session of support; undefined in any other session. Rejects when nobody gives one. */
export async function supportReason(request: Request): Promise<string | undefined> {
  if (ask === undefined || acts !== 1) return ask?.(request)
  given ??= ask(request)
  return given
}
