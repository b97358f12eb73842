import { ApiError } from '@backoffice/contracts/errors.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { recordActs } from '../admin/admin-operation.ts'
import { endedSession } from '../admin/support/support-session.ts'
import { invalidApiKey } from '../credentials/bearer-token.ts'
import type { ConsoleRequests, SessionKind } from '../credentials/console/console-requests.ts'
import { beginSession, endSession, SESSION_SECONDS } from '../credentials/console/console-sessions.ts'
import type { OperatorSessions } from '../credentials/console/operator-sessions.ts'
import type { Authenticator } from '../credentials/keys/authenticator.ts'
import type { KnownKey } from '../credentials/keys/find-keys.ts'
import type { KeyFormat } from '../credentials/keys/key-format.ts'
import type { OperatorAuthenticator } from '../credentials/operators/operator-authenticator.ts'
import type { TakeCall } from '../public/rate-limit/call-answer.ts'
import { readSession } from './read-session.ts'

interface Keys {
  readonly authenticator: Authenticator
  readonly takeCall: TakeCall
}

export interface SessionRoutes {
  readonly consoleRequests: ConsoleRequests
  readonly db: Database
  readonly worker: Database
  readonly format: KeyFormat
  readonly clock: () => Date
  /** What opens sessions of workspaces; a listener with the admin API alone has none. */
  readonly keys?: Keys | undefined
  /** What opens those of operators; none where the admin API is on another listener. */
  readonly operators?:
    | { readonly authenticator: OperatorAuthenticator; readonly sessions: OperatorSessions }
    | undefined
}

const URL = '/console/session'
/** The longest body: nobody is known yet, and many may come at once. */
const SESSION_BYTES = 4096
/** The longest wait for PostgreSQL, in milliseconds. */
const WITHIN_MS = 2_000
const Login = z.strictObject({ credential: z.string().min(1).max(1000) })
/** The token of a session begins no other. */
const SESSION = /^(?:cs|ss)_/
const Logout = z.strictObject({ which: z.enum(['workspace', 'operator']).default('workspace') })
const KINDS = { workspace: 'console', operator: 'operator' } as const satisfies Record<string, SessionKind>

/** The refusal of wrong credentials from an address that has sent many. */
const isOfFlood = ({ errorReason }: ApiError) => errorReason === 'too_many_wrong_keys'

/**
 * `/console/session` (OP-309): GET tells the sessions of a browser, POST begins one by an API key or an operator token,
 * DELETE ends one. The credential is not kept.
 */
export function addSessionRoutes(app: FastifyInstance, routes: SessionRoutes): void {
  const { consoleRequests, db, worker, format, clock, keys, operators } = routes

  // It drops no cookie: one that a login has set meanwhile would go.
  app.get(URL, async (request) => ({
    workspace: await unlessWrong(request, 'console', workspaceSession),
    operator: await unlessWrong(request, 'operator', operatorSession),
  }))

  const refuseForged = async ({ raw }: FastifyRequest) => consoleRequests.refuseForged(raw)

  app.post(URL, { onRequest: refuseForged, bodyLimit: SESSION_BYTES }, async (request, reply) => {
    const { credential } = validate(Login, request.body, 'body')
    const isKey = operators === undefined || (keys !== undefined && credential.startsWith('sk_'))
    const shown = isKey
      ? await loginByKey(request, reply, credential)
      : await loginAsOperator(request, reply, credential)
    return reply.code(201).send(shown)
  })

  app.delete(URL, { onRequest: refuseForged, bodyLimit: SESSION_BYTES }, async (request, reply) => {
    const kind = KINDS[validate(Logout, request.query, 'query').which]
    const text = consoleRequests.cookie(request.headers, kind)
    // Not for a text that anybody may have made up: what is not in force needs no end.
    if (text !== undefined && (await opensSomething(text, kind, request)))
      await answerWithin(WITHIN_MS, signOut(text, request.id))
    return reply
      .header('set-cookie', consoleRequests.setCookie(kind, '', 0))
      .code(204)
      .send()
  })
  refuseOtherMethods(app, URL, ['GET', 'POST', 'DELETE'])

  async function loginByKey(request: FastifyRequest, reply: FastifyReply, text: string) {
    if (keys === undefined || SESSION.test(text)) throw invalidApiKey('credential: must be an API key')
    const { caller } = await admit(keys, text, request)
    const { workspaceId, livemode, keyId } = caller
    refuseApps(caller)
    const operator = await unlessWrong(request, 'operator', operatorSession, reply)
    const traceparent = presentTraceparent(request.headers.traceparent)
    const { token } = await db.inWorkspace({ workspaceId, livemode, traceparent }, (tx) =>
      beginSession(tx, format, { workspaceId, livemode, apiKeyId: keyId }),
    )
    reply.header('set-cookie', consoleRequests.setCookie('console', token, SESSION_SECONDS))
    const session = await keys.authenticator.authenticate({ text: token, address: request.ip }, clock())
    return { workspace: await shownOf(keys, session, token, request), operator }
  }

  async function loginAsOperator(request: FastifyRequest, reply: FastifyReply, text: string) {
    if (operators === undefined) throw invalidApiKey('credential: must be an API key')
    const operator = await operators.authenticator.authenticate(`Bearer ${text}`, request.ip, clock())
    request.logged = { ...request.logged, operator }
    const workspace = await unlessWrong(request, 'console', workspaceSession, reply)
    const { fingerprint } = operators.authenticator
    const { token } = await answerWithin(
      WITHIN_MS,
      beginSession(worker.sql, format, { operator, operatorToken: text, fingerprint }),
    )
    reply.header('set-cookie', consoleRequests.setCookie('operator', token, SESSION_SECONDS))
    return { workspace, operator: await operatorSession(token, request) }
  }

  async function workspaceSession(text: string, request: FastifyRequest) {
    if (keys === undefined || text.startsWith('sk_')) return null
    return shownOf(keys, await admit(keys, text, request), text, request)
  }

  /** Looks again for a session that has left its workspace: a reset gives it the sandbox's new one (OP-287). */
  async function shownOf({ authenticator }: Keys, session: KnownKey, text: string, request: FastifyRequest) {
    const shown = await readSession(db, session)
    if (shown !== undefined) return shown
    authenticator.forget(session.caller.workspaceId)
    const moved = await authenticator.authenticate({ text, address: request.ip }, clock())
    const found = await readSession(db, moved)
    if (found === undefined) throw invalidApiKey('The session has ended; log in again', 'key_not_in_force')
    return found
  }

  /** The key or session of a text, which counts as one of its calls. */
  async function admit({ authenticator, takeCall }: Keys, text: string, request: FastifyRequest): Promise<KnownKey> {
    const now = clock()
    const key = await authenticator.authenticate({ text, address: request.ip }, now)
    const { workspaceId, keyId } = key.caller
    request.logged = { ...request.logged, workspace_id: workspaceId, key_id: keyId }
    const call = await takeCall(keyId, key.rateLimit, now.getTime())
    if (call.refusal !== undefined) throw call.refusal
    return key
  }

  const signOut = (text: string, requestId: string) =>
    inTransaction(worker.sql, async (tx) => {
      const of = { who: 'support', requestId, at: clock() } as const
      for (const { id, workspaceId, operator } of await endSession(tx, text))
        await recordActs(tx, workspaceId, [endedSession(id)], { ...of, actor: operator })
    })

  /** Whether a cookie opens a session. Throws `rate_limited` as its use would. */
  async function opensSomething(text: string, kind: SessionKind, request: FastifyRequest): Promise<boolean> {
    const opener = kind === 'operator' ? operators : keys
    if (opener === undefined || !SESSION.test(text)) return false
    try {
      if ('sessions' in opener) await opener.sessions.authenticate(text, request.ip, clock())
      else await opener.authenticator.authenticate({ text, address: request.ip }, clock())
      return true
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_api_key') throw error
      return error.errorReason === 'suspended'
    }
  }

  async function operatorSession(text: string, request: FastifyRequest) {
    return operators === undefined ? null : operators.sessions.authenticate(text, request.ip, clock())
  }

  /** What a cookie opens; null for none, and for one that opens nothing, which a reply tells the browser to drop. */
  async function unlessWrong<Shown>(
    request: FastifyRequest,
    kind: SessionKind,
    show: (text: string, request: FastifyRequest) => Promise<Shown | null>,
    reply?: FastifyReply,
  ): Promise<Shown | null> {
    try {
      const text = consoleRequests.cookie(request.headers, kind)
      return text === undefined ? null : await show(text, request)
    } catch (error) {
      // A cookie that is over says nothing against its browser, whatever others try from the same address.
      const isWrong = error instanceof ApiError && (error.code === 'invalid_api_key' || isOfFlood(error))
      if (!isWrong) throw error
      reply?.header('set-cookie', consoleRequests.setCookie(kind, '', 0))
      return null
    }
  }
}

/** Throws `insufficient_scope` for the key of an app: the console reads more than a key may. */
function refuseApps({ appKeyId }: Caller): void {
  if (appKeyId == null) return
  const message = "An app's key opens no console; use a key of the merchant"
  throw new ApiError('insufficient_scope', message, { errorReason: 'not_own_resource' })
}
