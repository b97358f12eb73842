import type { Caller } from '@backoffice/http/internal-token.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../../admin/support/caller-of.ts'
import { presentedKey } from '../../credentials/bearer-token.ts'
import type { ConsoleRequests } from '../../credentials/console/console-requests.ts'
import type { Authenticator } from '../../credentials/keys/authenticator.ts'
import type { TakeCall } from '../rate-limit/call-answer.ts'
import type { RequestCounts } from './request-counts.ts'

const decisions = counter('rate_limit_decisions', 'Calls of API keys that the rate limit allowed or refused')

const OF_CONSOLE = { console: true } as const

interface Admitting {
  readonly consoleRequests: ConsoleRequests
  readonly authenticator: Authenticator
  readonly takeCall: TakeCall
  /** Writes what support asks for to the audit log: not over the connections that look keys up. */
  readonly db: Database
  readonly clock: () => Date
  readonly noteRequest: RequestCounts['note']
}

/**
 * Authenticates the caller of a request (401), counts the call (429), and sets the headers of the rate limit. A request
 * of support is written to the audit log.
 */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>

export const admission =
  ({ consoleRequests, authenticator, takeCall, db, clock, noteRequest }: Admitting): Admit =>
  async (request, reply) => {
    const now = clock()
    const { raw } = request
    const isOfConsole = consoleRequests.has(raw)
    const text = isOfConsole ? consoleRequests.token(raw, 'console') : presentedKey(raw.headers)
    const key = await authenticator.authenticate({ text, address: request.ip }, now)
    const { workspaceId, keyId } = key.caller
    request.logged = { ...request.logged, workspace_id: workspaceId, key_id: keyId, ...(isOfConsole && OF_CONSOLE) }
    if (isOfConsole) consoleRequests.refuseOtherWorkspace(raw, workspaceId)
    if (key.operator === null) reply.raw.once('close', () => noteRequest(workspaceId, now, reply.statusCode))
    const call = await takeCall(keyId, key.rateLimit, now.getTime())
    reply.headers(call.headers)
    decisions.add(1, { decision: call.refusal === undefined ? 'allowed' : 'refused' })
    if (call.refusal !== undefined) throw call.refusal
    const caller = await callerOf(key, request, db, now)
    return isOfConsole ? { ...caller, ...OF_CONSOLE } : caller
  }
