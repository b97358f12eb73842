import { postText, type TextExchange } from '@backoffice/outbound/post-text.ts'
import type { Dispatcher } from 'undici'

/** How apps are reached. */
export interface AppConnection {
  /** Connects by the rules for addresses that outsiders choose. */
  readonly agent: Dispatcher
  /** The time for the whole answer of an app, in milliseconds. */
  readonly answerMs: number
}

interface AppRequest {
  readonly path: string
  readonly token: string
  readonly body: unknown
  readonly signal?: AbortSignal
}

/** So much of an answer is read. */
const KEPT_BYTES = 64 * 1024

/** Sends a request to an app, by the rules for addresses that outsiders choose (OP-81). Never throws. */
export const callApp = (
  { agent, answerMs }: AppConnection,
  { origin }: { readonly origin: string },
  { path, token, body, signal }: AppRequest,
): Promise<TextExchange> =>
  postText(
    agent,
    {
      url: new URL(path, origin),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        'user-agent': 'Commerce-Back-Office',
      },
      body: JSON.stringify(body),
    },
    { timeoutMs: answerMs, keptBytes: KEPT_BYTES, ...(signal && { signal }) },
  )
