import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Part } from '@backoffice/runtime/process.ts'
import type { FastifyInstance } from 'fastify'
import { createApp } from './app.ts'
import { tokenVerifier } from './internal-token.ts'
import { openApiDocument } from './openapi.ts'
import { type AnyOperation, operationRoute } from './operation.ts'
import { addRoutes } from './route.ts'

export interface ServiceAppOptions {
  readonly logger: Logger
  readonly db: Database
  readonly operations: readonly AnyOperation[]
  /** The gateway's public key, base64 DER SPKI. */
  readonly tokenKey: string
  readonly clock?: () => Date
  /** Fail an answer that is not exactly as declared: tests run so. */
  readonly checkResponses?: boolean
}

/** A service's API: its operations, and `/openapi.json` with its part of the document. */
export function createServiceApp({ logger, db, operations, tokenKey, ...options }: ServiceAppOptions): FastifyInstance {
  const app = createApp({ logger, trustRequestId: true })
  const dependencies = { db, verifyToken: tokenVerifier(tokenKey), clock: options.clock ?? (() => new Date()) }
  addRoutes(
    app,
    operations.map((operation) => operationRoute(operation, dependencies)),
    { checkResponses: options.checkResponses ?? false },
  )
  const document = openApiDocument(operations)
  app.get('/openapi.json', async () => document)
  return app
}

/** How long requests in flight have to finish once the process stops, which it does within 25 s. */
const FINISH_WITHIN_MS = 22_000

/**
 * An app as a part of a process: listens when started; when stopped, takes no new request and finishes those it has, the
 * ones that take longer than 22 s aside.
 */
export function httpServer(app: FastifyInstance, { HOST, PORT }: { HOST: string; PORT: number }): Part {
  return {
    name: 'http',
    async start() {
      await app.listen({ host: HOST, port: PORT })
    },
    async stop() {
      const closing = setTimeout(() => app.server.closeAllConnections(), FINISH_WITHIN_MS)
      await app.close()
      clearTimeout(closing)
    },
  }
}
