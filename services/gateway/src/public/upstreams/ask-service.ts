import { ApiError } from '@backoffice/contracts/errors.ts'
import type { RoutedService } from '@backoffice/contracts/services.ts'
import { inCallSpan } from '@backoffice/http/call-span.ts'
import { INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { readAnswer } from '@backoffice/http/read-answer.ts'
import type { CallingFor, TokenSigner } from '@backoffice/http/token-signer.ts'
import type { z } from 'zod'
import type { Upstreams } from './upstream.ts'

export interface Asking {
  readonly upstreams: Upstreams
  readonly signer: TokenSigner
  readonly now: Date
}

interface Asked<Answer> {
  readonly caller: CallingFor
  /** Whose slot it takes. */
  readonly owner: string
  readonly path: `/internal/${string}`
  readonly answer: z.ZodType<Answer>
  readonly signal?: AbortSignal
}

/** Asks about a workspace for operators, who take slots of their own. */
export const askedByOperator = (workspaceId: string) => {
  const caller: CallingFor = { workspaceId, livemode: true, keyId: 'operator', productStatuses: [] }
  return { caller, owner: caller.keyId }
}

/** For an answer where several services are asked, in milliseconds: one that hangs keeps the others from nobody. */
export const EACH_ANSWER_MS = 5_000

/**
 * Reads something of an internal operation. Throws `service_unavailable` when the service does not answer it, or not in
 * time, and `rate_limited` when the owner has too many requests under way.
 */
export async function askService<Answer>(
  service: RoutedService,
  { caller, path, answer, ...request }: Asked<Answer>,
  { upstreams, signer, now }: Asking,
): Promise<Answer> {
  const token = await signer.ownCall(caller, service, now)
  try {
    const { body } = await inCallSpan({ service, method: 'GET' }, (trace) => {
      const headers = { [INTERNAL_TOKEN_HEADER]: token, ...trace }
      return upstreams[service].requests.send({ ...request, method: 'GET', path, headers })
    })
    // A refusal has another shape.
    return readAnswer(answer, await body.json())
  } catch (cause) {
    if (cause instanceof ApiError && cause.code !== 'gateway_timeout') throw cause
    throw new ApiError('service_unavailable', `${service} does not answer now; try again`, { cause })
  }
}
