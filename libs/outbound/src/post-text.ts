import type { Dispatcher } from 'undici'
import type { Failure } from './failure.ts'
import { type Captured, type Limits, post } from './post.ts'

export interface TextOutgoing {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: string
}

/** An answer whose body is text, cut after as many bytes as the caller keeps. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
  readonly isTruncated: boolean
}

/**
 * How a request went. A failure of class `status` has an answer other than 2xx; others have what arrived, or null. The
 * failure's message may be shown to whoever chose the address.
 */
export type TextExchange =
  | { readonly answer: TextAnswer; readonly failure: null }
  | { readonly answer: TextAnswer | null; readonly failure: Failure }

/**
 * Sends one POST with a text and reads the answer's text: through a `guardedAgent` to addresses that outsiders choose
 * (OP-70, OP-99). Never throws.
 */
export async function postText(
  agent: Dispatcher,
  { url, headers, body }: TextOutgoing,
  limits: Limits,
): Promise<TextExchange> {
  const { response, failure } = await post(agent, { url, headers, body: Buffer.from(body) }, limits)
  if (failure === null) return { answer: answerOf(response), failure }
  return { answer: response && answerOf(response), failure }
}

/** Bytes that are not UTF-8 become U+FFFD; a character that the limit cuts is left out. */
function answerOf({ status, headers, body, isTruncated }: Captured): TextAnswer {
  return { status, headers, body: new TextDecoder().decode(body, { stream: isTruncated }), isTruncated }
}
