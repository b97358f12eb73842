/** An answer of the app. Without one the status is 0. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** `401`, or why there is none. */
  readonly text: string
}

export type RequestHeaders = Readonly<Record<string, string>>

/** The platform waits so long (OP-85). */
const ANSWER_MS = 10_000

/**
 * Sends a GET request, or a POST request with a body, as the platform does: it follows no redirect and waits 10
 * seconds. Never throws.
 */
export async function ask(url: URL, body?: string, headers: RequestHeaders = {}): Promise<Answer> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body !== undefined && { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }),
    })
    const { status } = response
    return { status, headers: response.headers, body: await response.text(), text: String(status) }
  } catch (error) {
    const { message, cause } = error as Error
    return { status: 0, headers: new Headers(), body: '', text: cause instanceof Error ? cause.message : message }
  }
}
