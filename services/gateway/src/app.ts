import { createApp } from '@backoffice/http/app.ts'
import { publicKeyOf, tokenSigner, tokenVerifier } from '@backoffice/http/internal-token.ts'
import { operationRoute } from '@backoffice/http/operation.ts'
import { addRoutes } from '@backoffice/http/route.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { FastifyInstance } from 'fastify'
import { adminRoute } from './admin/admin-operation.ts'
import type { AppsClient } from './apps/apps-client.ts'
import { addDocsPage } from './docs/docs-page.ts'
import { mergedDocument } from './docs/openapi.ts'
import type { Authenticator } from './keys/authenticator.ts'
import { internalOperations, operations } from './operations.ts'
import { pageLinks } from './page-links/page-links.ts'
import { signedIds } from './page-links/signed-ids.ts'
import { addPages } from './pages/add-pages.ts'
import { addAssets } from './proxy/assets.ts'
import { callerTokens } from './proxy/caller-token.ts'
import { addProxy } from './proxy/proxy.ts'
import { addPublicKeys } from './proxy/public-keys.ts'
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
  readonly apps: AppsClient
  readonly adminToken: string
  /** The private key of the internal token, base64 DER PKCS8. */
  readonly tokenKey: string
  /** The gateway's address, as browsers see it. */
  readonly publicUrl: URL
  /** The limit of workspaces without a limit of their own. */
  readonly rateLimit: RateLimit
  readonly clock?: () => Date
  /** Whether an admin answer that differs from its declaration fails: for tests. */
  readonly checkResponses?: boolean
}

/** The gateway's API: the proxy under `/v1`, stored files under `/assets`, the pages of apps under `/apps`, `/admin/v1`, `/internal` and the API's documentation. */
export function createGatewayApp({ clock = () => new Date(), ...options }: GatewayOptions): FastifyInstance {
  const app = createApp({ logger: options.logger, trustRequestId: false })
  addProxy(app, {
    authenticator: options.authenticator,
    takeCall: rateLimiter(options.rateLimit),
    tokenOf: callerTokens(tokenSigner(options.tokenKey)),
    upstreams: options.upstreams,
    clock,
  })
  addAssets(app, options.upstreams.catalog.files)
  addPublicKeys(app, options.upstreams.apps.requests)
  const ids = signedIds(options.tokenKey)
  addPages(app, { ...options, ids })
  const adminOperations = operations(options.apps, pageLinks(ids, options.publicUrl))
  const routes = adminOperations.map((operation) => adminRoute(operation, { ...options, clock }))
  addRoutes(app, routes, options.checkResponses)
  const verifyToken = tokenVerifier(publicKeyOf(options.tokenKey))
  const internalRoutes = internalOperations.map((one) => operationRoute(one, { db: options.db, verifyToken, clock }))
  addRoutes(app, internalRoutes, options.checkResponses)
  const document = mergedDocument(
    Object.values(options.upstreams).map(({ requests }) => requests),
    clock,
  )
  app.get('/openapi.json', async () => document())
  addDocsPage(app)
  return app
}
