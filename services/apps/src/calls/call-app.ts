import { postText, type TextExchange } from '@backoffice/outbound/post-text.ts'
import type { Dispatcher } from 'undici'

interface AppRequest {
  readonly path: string
  readonly token: string
  readonly body: unknown
  readonly signal?: AbortSignal
}

/** An app answers within so many milliseconds (OP-85). */
const ANSWER_MS = 10_000
/** So much of an answer is read. */
const KEPT_BYTES = 64 * 1024

/** Sends a request to an app, by the rules for addresses that outsiders choose (OP-81). Never throws. */
export const callApp = (
  agent: Dispatcher,
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
    { timeoutMs: ANSWER_MS, keptBytes: KEPT_BYTES, ...(signal && { signal }) },
  )

/** Why an app did not acknowledge a call; the message is shown to operators. */
export class AppFailure extends Error {}

/** As `callApp`; throws an AppFailure unless the app acknowledges with a 2xx. */
export async function acknowledged(...call: Parameters<typeof callApp>): Promise<void> {
  const { failure } = await callApp(...call)
  if (failure !== null) throw new AppFailure(`${call[2].path}: ${failure.message}`)
}
