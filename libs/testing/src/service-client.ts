import { EVENT_CATALOGUE } from '@backoffice/contracts/events.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import { createServiceApp } from '@backoffice/http/server.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { headersFor, testVerifier } from './caller.ts'
import { eventually } from './eventually.ts'

/** An answer; the test names the type of its JSON body: `send<Product>(…)`. A body that is not JSON is text. */
export interface TestAnswer<Body> {
  readonly status: number
  readonly headers: Record<string, string | string[] | number | undefined>
  readonly body: Body
}

/** Sends again while the service is busy: what waits too long is refused, and nothing applied (OP-161, OP-162). */
export const untilServed = <Body>(send: () => Promise<TestAnswer<Body>>): Promise<TestAnswer<Body>> =>
  eventually('the service has time', async () => {
    const answer = await send()
    return answer.status !== 429 && answer
  })

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

/** Sends a request to a service as the gateway does. `body` is sent as JSON; a string or Buffer is sent unchanged. */
export type Send = <Body = { error: { code: string; message: string; request_id: string } }>(
  caller: Caller,
  method: Method,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<TestAnswer<Body>>

/** Runs operations over a test database without a port. Every answer is checked against its declaration. */
export function serviceClient(db: Database, operations: readonly AnyOperation[], clock?: () => Date): Send {
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    db,
    operations: operations.map(refuseUndeclaredEvents),
    verifyToken: testVerifier(),
    checkResponses: true,
    ...(clock && { clock }),
  })
  return async (caller, method, path, body, headers = {}) => {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
    const response = await app.inject({
      method,
      url: path,
      headers: {
        ...(await headersFor(path)(caller)),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: isRaw ? body : JSON.stringify(body) }),
    })
    return {
      status: response.statusCode,
      headers: response.headers,
      body: bodyOf(response.body, response.headers['content-type']),
    }
  }
}

/** The operation, which fails when it publishes an event that it does not declare. */
const refuseUndeclaredEvents = (declaration: AnyOperation): AnyOperation => ({
  ...declaration,
  handle: (input) =>
    declaration.handle({
      ...input,
      inWorkspace: (work, limits) =>
        input.inWorkspace(async (tx) => {
          const reply = await work(tx)
          const declared = 'events' in declaration ? declaration.events : []
          const undeclared = [...tx.published].filter((type) => EVENT_CATALOGUE.has(type) && !declared?.includes(type))
          if (undeclared.length > 0)
            throw new Error(`${declaration.method} ${declaration.path}: events lacks ${undeclared}`)
          return reply
        }, limits),
    }),
})

function bodyOf(text: string, type: unknown) {
  if (text === '') return undefined
  return String(type).startsWith('application/json') ? JSON.parse(text) : text
}
