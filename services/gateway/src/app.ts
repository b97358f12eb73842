import { createApp } from '@backoffice/http/app.ts'
import { tokenSigner } from '@backoffice/http/internal-token.ts'
import { addRoutes } from '@backoffice/http/route.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { FastifyInstance } from 'fastify'
import { adminRoute } from './admin/admin-operation.ts'
import { getDeletion } from './deletions/get-deletion.ts'
import { addDocsPage } from './docs/docs-page.ts'
import { mergedDocument } from './docs/openapi.ts'
import type { Authenticator } from './keys/authenticator.ts'
import { operations } from './operations.ts'
import { addAssets } from './proxy/assets.ts'
import { callerTokens } from './proxy/caller-token.ts'
import { addProxy } from './proxy/proxy.ts'
import type { Upstreams } from './proxy/upstream.ts'
import { rateLimiter } from './rate-limit/rate-limiter.ts'
import type { RateLimit } from './rate-limit/token-bucket.ts'

export interface GatewayOptions {
  readonly logger: Logger
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads across workspaces. */
  readonly worker: Database
  readonly authenticator: Authenticator
  readonly upstreams: Upstreams
  readonly adminToken: string
  /** The private key of the internal token, base64 DER PKCS8. */
  readonly tokenKey: string
  /** The limit of workspaces without a limit of their own. */
  readonly rateLimit: RateLimit
  readonly clock?: () => Date
  /** Whether an admin answer that differs from its declaration fails: for tests. */
  readonly checkResponses?: boolean
}

/** The gateway's API: the proxy under `/v1`, stored files under `/assets`, `/admin/v1` and the API's documentation. */
export function createGatewayApp({ clock = () => new Date(), ...options }: GatewayOptions): FastifyInstance {
  const app = createApp({ logger: options.logger, trustRequestId: false })
  const sign = tokenSigner(options.tokenKey)
  addProxy(app, {
    authenticator: options.authenticator,
    takeCall: rateLimiter(options.rateLimit),
    tokenOf: callerTokens(sign),
    upstreams: options.upstreams,
    clock,
  })
  addAssets(app, options.upstreams.catalog.files)
  const { db, upstreams } = options
  const routes = [...operations, getDeletion({ db, upstreams, sign })].map((operation) =>
    adminRoute(operation, { ...options, clock }),
  )
  addRoutes(app, routes, options.checkResponses)
  const document = mergedDocument(
    Object.values(options.upstreams).map(({ requests }) => requests),
    clock,
  )
  app.get('/openapi.json', async () => document())
  addDocsPage(app)
  return app
}
