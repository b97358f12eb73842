import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { parsedJson } from '@backoffice/runtime/parsed-json.ts'
import { CommandError } from './command-error.ts'

/** The gateway, and the token or key for it. */
export interface Connection {
  readonly url: string
  readonly token: string
}

/** A request to the gateway. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: object | undefined
  /** Why a session of support writes. */
  readonly reason?: string | undefined
  /** Ends the wait for an answer when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

/** The longest wait for an answer, in milliseconds. */
const ANSWER_WITHIN_MS = 60_000

/** Sends a request; undefined is an answer without a body. Throws CommandError with the API's message for a refusal. */
export async function callApi(connection: Connection, { method, path, query = {}, body, reason, signal }: ApiRequest) {
  const { origin, pathname } = new URL(connection.url)
  const url = new URL(`${origin}${pathname.replace(/\/$/, '')}${path}`)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
  const { ok, status, text } = await fetch(url, {
    method,
    // The token is for this address and no other.
    redirect: 'error',
    signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), ...(signal ? [signal] : [])]),
    headers: {
      authorization: `Bearer ${connection.token}`,
      ...(reason !== undefined && { 'support-reason': Buffer.from(reason).toString('latin1') }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
    .then(async (answer) => ({ ok: answer.ok, status: answer.status, text: await answer.text() }))
    .catch((error: Error) => {
      const cause =
        error.cause instanceof Error ? error.cause.message || (error.cause as NodeJS.ErrnoException).code : ''
      throw new CommandError(`no answer from ${origin}: ${cause || error.message}`)
    })
  const content = parsedJson(text)
  if (ok && (content !== undefined || text === '')) return content
  const { error } = (content ?? {}) as Partial<ErrorBody>
  if (error === undefined) throw new CommandError(`${origin} answered ${status}: is it a gateway?`)
  throw new CommandError(`${error.message} (${error.code}, request ${error.request_id})`, status)
}
