import { ApiError } from '@backoffice/contracts/errors.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { refuseOtherMethods } from '@backoffice/http/route.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { invalidApiKey } from '../credentials/bearer-token.ts'
import type { ConsoleRequests, SessionKind } from '../credentials/console/console-requests.ts'
import { beginSession, endSession, SESSION_SECONDS, storedForms } from '../credentials/console/console-sessions.ts'
import type { OperatorSessions } from '../credentials/console/operator-sessions.ts'
import type { Authenticator } from '../credentials/keys/authenticator.ts'
import type { KeyFormat } from '../credentials/keys/key-format.ts'
import type { OperatorAuthenticator } from '../credentials/operators/operator-authenticator.ts'
import type { TakeCall } from '../public/rate-limit/call-answer.ts'
import { readSession } from './read-session.ts'

export interface SessionRoutes {
  readonly consoleRequests: ConsoleRequests
  readonly db: Database
  readonly worker: Database
  readonly format: KeyFormat
  readonly clock: () => Date
  /** What opens sessions of workspaces; a listener with the admin API alone has none. */
  readonly keys?: { readonly authenticator: Authenticator; readonly takeCall: TakeCall } | undefined
  /** What opens those of operators; none where the admin API is on another listener. */
  readonly operators?:
    | { readonly authenticator: OperatorAuthenticator; readonly sessions: OperatorSessions }
    | undefined
}

const URL = '/console/session'
const Login = z.strictObject({ credential: z.string().min(1).max(1000) })
/** The token of a session begins no other. */
const SESSION = /^(?:cs|ss)_/
const Logout = z.strictObject({ which: z.enum(['workspace', 'operator']).default('workspace') })
const KINDS = { workspace: 'console', operator: 'operator' } as const satisfies Record<string, SessionKind>

/**
 * `/console/session` (OP-309): GET tells the sessions of a browser, POST begins one by an API key or an operator token,
 * DELETE ends one. The credential is not kept.
 */
export function addSessionRoutes(app: FastifyInstance, routes: SessionRoutes): void {
  const { consoleRequests, db, worker, format, clock, keys, operators } = routes

  app.get(URL, async (request, reply) => ({
    workspace: await unlessWrong(request, reply, 'console', workspaceSession),
    operator: await unlessWrong(request, reply, 'operator', operatorSession),
  }))

  const refuseForged = async ({ raw }: FastifyRequest) => consoleRequests.refuseForged(raw)

  app.post(URL, { onRequest: refuseForged }, async (request, reply) => {
    const { credential } = validate(Login, request.body, 'body')
    const isKey = operators === undefined || (keys !== undefined && credential.startsWith('sk_'))
    const shown = isKey
      ? await loginByKey(request, reply, credential)
      : await loginAsOperator(request, reply, credential)
    return reply.code(201).send(shown)
  })

  app.delete(URL, { onRequest: refuseForged }, async (request, reply) => {
    const kind = KINDS[validate(Logout, request.query, 'query').which]
    const text = consoleRequests.cookie(request.headers, kind)
    if (text !== undefined && format.verify(text) !== 'malformed')
      await endSession(worker.sql, storedForms(text, operators?.authenticator))
    return reply
      .header('set-cookie', consoleRequests.setCookie(kind, '', 0))
      .code(204)
      .send()
  })
  refuseOtherMethods(app, URL, ['GET', 'POST', 'DELETE'])

  async function loginByKey(request: FastifyRequest, reply: FastifyReply, text: string) {
    if (keys === undefined || SESSION.test(text)) throw invalidApiKey('credential: must be an API key')
    const now = clock()
    const key = await keys.authenticator.authenticate({ text, address: request.ip }, now)
    const { workspaceId, livemode, keyId } = key.caller
    request.logged = { ...request.logged, workspace_id: workspaceId, key_id: keyId }
    const call = await keys.takeCall(keyId, key.rateLimit, now.getTime())
    if (call.refusal !== undefined) throw call.refusal
    const traceparent = presentTraceparent(request.headers.traceparent)
    const { token } = await db.inWorkspace({ workspaceId, livemode, traceparent }, (tx) =>
      beginSession(tx, format, { workspaceId, livemode, apiKeyId: keyId }),
    )
    reply.header('set-cookie', consoleRequests.setCookie('console', token, SESSION_SECONDS))
    const operator = await unlessWrong(request, reply, 'operator', operatorSession)
    return { workspace: await workspaceSession(token, request), operator }
  }

  async function loginAsOperator(request: FastifyRequest, reply: FastifyReply, text: string) {
    if (operators === undefined) throw invalidApiKey('credential: must be an API key')
    const operator = await operators.authenticator.authenticate(`Bearer ${text}`, request.ip, clock())
    request.logged = { ...request.logged, operator }
    const { token } = await beginSession(worker.sql, format, { operator }, operators.authenticator.sealOf(operator))
    reply.header('set-cookie', consoleRequests.setCookie('operator', token, SESSION_SECONDS))
    const workspace = await unlessWrong(request, reply, 'console', workspaceSession)
    return { workspace, operator: await operatorSession(token, request) }
  }

  async function workspaceSession(text: string, request: FastifyRequest) {
    if (keys === undefined || text.startsWith('sk_')) return null
    const key = await keys.authenticator.authenticate({ text, address: request.ip }, clock())
    request.logged = { ...request.logged, workspace_id: key.caller.workspaceId, key_id: key.caller.keyId }
    return readSession(db, key)
  }

  async function operatorSession(text: string, request: FastifyRequest) {
    return operators === undefined ? null : operators.sessions.authenticate(text, request.ip, clock())
  }

  /** What a cookie opens; null for none, and for one that opens nothing, which the browser is told to drop. */
  async function unlessWrong<Shown>(
    request: FastifyRequest,
    reply: FastifyReply,
    kind: SessionKind,
    show: (text: string, request: FastifyRequest) => Promise<Shown | null>,
  ): Promise<Shown | null> {
    try {
      const text = consoleRequests.cookie(request.headers, kind)
      return text === undefined ? null : await show(text, request)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_api_key') throw error
      reply.header('set-cookie', consoleRequests.setCookie(kind, '', 0))
      return null
    }
  }
}
