import type { Caller } from '@backoffice/http/internal-token.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../../credentials/keys/authenticator.ts'
import type { TakeCall } from '../rate-limit/call-answer.ts'

const decisions = counter('rate_limit_decisions', 'Calls of API keys that the rate limit allowed or refused')

interface Admitting {
  readonly authenticator: Authenticator
  readonly takeCall: TakeCall
  readonly clock: () => Date
}

/** Authenticates the caller of a request (401), counts the call (429), and sets the headers of the rate limit. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>

export const admission =
  ({ authenticator, takeCall, clock }: Admitting): Admit =>
  async (request, reply) => {
    const now = clock()
    const { headers } = request.raw
    const { caller, rateLimit } = await authenticator.authenticate({ headers, address: request.ip }, now)
    request.logged = { ...request.logged, workspace_id: caller.workspaceId, key_id: caller.keyId }
    const call = await takeCall(caller.keyId, rateLimit, now.getTime())
    reply.headers(call.headers)
    decisions.add(1, { decision: call.refusal === undefined ? 'allowed' : 'refused' })
    if (call.refusal !== undefined) throw call.refusal
    return caller
  }
