export const KEY = 'idempotency-key'

/** How long what is sent again counts as the same write: later, somebody means another one. */
const SAME_WRITE_MS = 10 * 60_000

interface Sent {
  readonly key: string
  readonly at: number
}

/** The keys of writes that have no answer yet, by what is sent: what is sent again is done once (OP-08). */
const unanswered = new Map<string, Sent>()

/** `crypto.randomUUID` is missing where the page comes over http from another host than localhost. */
export const randomId = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')

/**
 * The `Idempotency-Key` of a write, at a time in milliseconds. One that it has tells it from others with the same body,
 * at any time. A file is not read.
 */
export async function keyOf(request: Request, now: number): Promise<string> {
  const { url, headers } = request
  const own = headers.get(KEY)
  const isFile = headers.get('content-type')?.startsWith('multipart/')
  const what = `${url} ${own} ${isFile ? randomId() : await request.clone().text()}`
  for (const [former, { at }] of unanswered) if (now - at > SAME_WRITE_MS) unanswered.delete(former)
  const key = unanswered.get(what)?.key ?? randomId()
  unanswered.set(what, { key, at: own === null ? now : Number.POSITIVE_INFINITY })
  return key
}

/** These refuse a request before anybody looks for its key: it may have been sent before, and be done or under way. */
const TELL_NOTHING = [401, 403, 429]

/** Whether an answer tells what became of a write. */
export const isAnswered = (status: number): boolean => status < 500 && !TELL_NOTHING.includes(status)

/** The write of a key has this answer. */
export function answered(key: string | null, status: number): void {
  if (!isAnswered(status)) return
  for (const [what, sent] of unanswered) if (sent.key === key) unanswered.delete(what)
}
