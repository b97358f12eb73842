import type { Database } from '@backoffice/postgres/database.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import type { FastifyInstance } from 'fastify'
import { createApp } from './app.ts'
import type { TokenVerifier } from './internal-token.ts'
import { LargeAnswers } from './large-answers.ts'
import { shareLargeRequests } from './large-requests.ts'
import { openApiDocument } from './openapi.ts'
import { type AnyOperation, byToken, operationRoute } from './operation.ts'
import { ROUTE_HEADER } from './request-metrics.ts'
import { addRoutes } from './route.ts'
import { GATEWAY_LIMITS } from './write-deadline.ts'

export interface ServiceAppOptions {
  readonly logger: Logger
  readonly db: Database
  readonly operations: readonly AnyOperation[]
  readonly verifyToken: TokenVerifier
  readonly clock?: () => Date
  /** Fails an answer that differs from its declaration; for tests. */
  readonly checkResponses?: boolean
}

/** A service's API: its operations, and `/openapi.json` with its part of the document. */
export function createServiceApp({
  logger,
  db,
  operations,
  verifyToken,
  ...options
}: ServiceAppOptions): FastifyInstance {
  const app = createApp({ logger, trustRequestId: true, writeLimits: GATEWAY_LIMITS })
  const clock = options.clock ?? currentTime
  const dependencies = { db, authenticate: byToken(verifyToken, clock), clock, largeAnswers: new LargeAnswers() }
  const routes = operations.map((operation) => operationRoute(operation, dependencies))
  app.addHook('onRequest', async ({ routeOptions }, reply) => void reply.header(ROUTE_HEADER, routeOptions.url))
  shareLargeRequests(app)
  addRoutes(app, routes, options.checkResponses)
  let document: ReturnType<typeof openApiDocument> | undefined
  app.get('/openapi.json', async () => {
    // Not before the first request, so that the service starts sooner.
    document ??= openApiDocument(operations)
    return document
  })
  return app
}

/** The time for requests in flight when `stop` gets no deadline; CLOSE_WITHIN_MS before it, connections are closed. */
const FINISH_WITHIN_MS = 20_000
const CLOSE_WITHIN_MS = 500

export interface Listener {
  readonly app: FastifyInstance
  readonly port: number
}

/** An app as a component, with further apps on other ports. Stopping waits for requests in flight until a limit. */
export function httpServer(
  app: FastifyInstance,
  { HOST, PORT }: { HOST: string; PORT: number },
  further: readonly Listener[] = [],
): Component {
  const listeners = [{ app, port: PORT }, ...further]
  return {
    name: 'http',
    async start() {
      for (const { app, port } of listeners) {
        app.server.on('request', noteRequest)
        await app.listen({ host: HOST, port })
      }
    },
    drain() {
      for (const { app } of listeners) app.drain()
    },
    async stop(until = performance.now() + FINISH_WITHIN_MS) {
      await Promise.all(listeners.map(({ app }) => finish(app, until)))
    },
  }
}

async function finish(app: FastifyInstance, until: number): Promise<void> {
  const closing = setTimeout(() => app.server.closeAllConnections(), until - performance.now() - CLOSE_WITHIN_MS)
  await app.close()
  clearTimeout(closing)
}
