import { type Limits, ServiceLimits } from '@backoffice/contracts/usage.ts'
import type { CallingFor } from '@backoffice/http/token-signer.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import type { z } from 'zod'
import type { RateLimit } from '../rate-limit/token-bucket.ts'
import { type Asking, askService, EACH_ANSWER_MS } from './ask-service.ts'

/** The services that answer `/internal/limits`. */
const WITH_LIMITS = ['catalog', 'imports', 'webhook-delivery'] as const

type LimitsBody = z.output<typeof Limits>

/** What the services say of the caller's workspace, by a call to each. Names those that do not answer. */
export async function limitsOf(
  asked: { readonly caller: CallingFor; readonly owner: string },
  asking: Asking,
): Promise<LimitsBody> {
  const signal = AbortSignal.timeout(EACH_ANSWER_MS)
  const request = { ...asked, path: '/internal/limits', answer: ServiceLimits, signal } as const
  const answers = await Promise.all(
    WITH_LIMITS.map((service) => askService(service, request, asking).catch(() => ({ service, limits: [] }))),
  )
  return {
    limits: answers.flatMap(({ limits }) => limits),
    unanswered: answers.flatMap((answer) => ('service' in answer ? [answer.service] : [])),
  }
}

/** Adds what each key may send: by the workspace's own limit, else by that of the deployment (OP-06). */
export async function withRateLimit(
  { limits, unanswered }: LimitsBody,
  sql: AnySql,
  workspaceId: string,
  standard: RateLimit,
): Promise<LimitsBody> {
  const [own] = await sql<RateLimit[]>`
    select rate_limit_per_second as "perSecond", rate_limit_burst as burst
    from settings where workspace_id = ${workspaceId} and rate_limit_per_second is not null`
  const { perSecond, burst } = own ?? standard
  const requests = [
    { name: 'requests_per_minute', used: null, most: Math.round(perSecond * 60) },
    { name: 'requests_at_once', used: null, most: burst },
  ]
  return { limits: [...requests, ...limits], unanswered }
}
