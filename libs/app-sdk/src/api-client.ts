import createClient, { type Client, defaultBodySerializer, type Middleware } from 'openapi-fetch'
import { z } from 'zod'
// Made at install: `npm run generate:api` makes it again.
import type { components, paths } from './api-types.ts'

interface ApiClientOptions {
  /** The platform's address, without `/v1`. */
  readonly baseUrl: string
  /** The key that the app was provisioned with. */
  readonly apiKey: string
  /** A call fails after so many milliseconds: 30,000 unless given, of which the platform needs fewer. */
  readonly timeoutMs?: number | undefined
}

const TIMEOUT_MS = 30_000

/**
 * Makes a client of the API, whose paths, bodies and answers are typed by the OpenAPI document: `await
 * api.GET('/v1/products')` gives `{data}` or `{error}`, and throws when there is no answer. An `error` has the form of
 * the document, also when something before the platform has refused. The `signal` of a call replaces the timeout:
 * uploads and streams take longer. See the documentation of openapi-fetch.
 */
export function apiClient({ baseUrl, apiKey, timeoutMs = TIMEOUT_MS }: ApiClientOptions): Client<paths> {
  const client = createClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    bodySerializer: formOrJson,
    Request: requestWith(timeoutMs),
  })
  client.use(withErrorBody)
  return client
}

const requestWith = (timeoutMs: number): typeof Request =>
  class extends Request {
    constructor(...[resource, options]: ConstructorParameters<typeof Request>) {
      super(resource, { ...options, signal: options?.signal ?? AbortSignal.timeout(timeoutMs) })
    }

    /** openapi-fetch asks what a middleware returns, which is a plain request. */
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof globalThis.Request
    }
  }

/** A body with a file is sent as a form, in which the file comes last, as the platform takes it. */
function formOrJson(body: unknown): FormData | string {
  const members: [string, unknown][] = Object.entries(body ?? {})
  const files = members.filter((member): member is [string, Blob] => member[1] instanceof Blob)
  if (files.length === 0) return defaultBodySerializer(body)
  const form = new FormData()
  for (const [name, value] of members) {
    if (!(value instanceof Blob) && value !== undefined) form.append(name, String(value))
  }
  for (const [name, file] of files) form.append(name, file)
  return form
}

type ErrorBody = components['schemas']['Error']

const ErrorForm = z.object({ error: z.object({ code: z.string(), message: z.string(), request_id: z.string() }) })

/** A load balancer refuses with a body of its own, or without one, for which openapi-fetch has no `error`. */
const withErrorBody: Middleware = {
  async onResponse({ response }) {
    const { ok, status, statusText } = response
    if (ok || status === 304 || isError(await response.clone().text())) return
    const headers = new Headers(response.headers)
    for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
    headers.set('content-type', 'application/json')
    const error: ErrorBody['error'] = {
      code: codeOf(status),
      message: `the server answered ${status} without an error of the API`,
      request_id: headers.get('x-request-id') ?? '',
    }
    return new Response(JSON.stringify({ error } satisfies ErrorBody), { status, statusText, headers })
  },
}

function isError(text: string): boolean {
  try {
    return ErrorForm.safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

/** Only codes that say to repeat the request: what else a load balancer refuses is no word of the platform. */
function codeOf(status: number): string {
  if (status === 429) return 'rate_limited'
  if (status === 504) return 'gateway_timeout'
  return status >= 500 ? 'service_unavailable' : 'unexpected_answer'
}
