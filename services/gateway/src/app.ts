import { createApp } from '@backoffice/http/app.ts'
import { operationRoute } from '@backoffice/http/operation.ts'
import type { RefuseEarly } from '@backoffice/http/refuse-early.ts'
import { addRoutes } from '@backoffice/http/route.ts'
import type { WriteLimits } from '@backoffice/http/write-deadline.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { ServiceTokens } from '@backoffice/service/service-tokens.ts'
import type { FastifyInstance } from 'fastify'
import { adminRoute } from './admin/admin-operation.ts'
import { refuseTwoCredentials } from './credentials/bearer-token.ts'
import type { Authenticator } from './credentials/keys/authenticator.ts'
import type { KeyFormat } from './credentials/keys/key-format.ts'
import type { OperatorAuthenticator } from './credentials/operators/operator-authenticator.ts'
import { adminOperations, internalOperations } from './operations.ts'
import { addPages } from './pages/add-pages.ts'
import { pageLinks } from './pages/links/page-links.ts'
import { signedIds } from './pages/links/signed-ids.ts'
import { addDocsPage } from './public/docs/docs-page.ts'
import { mergedDocument } from './public/docs/openapi.ts'
import { keepFromCaches } from './public/proxy/headers.ts'
import { addProxy } from './public/proxy/proxy.ts'
import { addAssets, addPublicKeys } from './public/proxy/public-files.ts'
import type { TakeCall } from './public/rate-limit/call-answer.ts'
import type { AppsClient } from './public/upstreams/apps-client.ts'
import type { Upstreams } from './public/upstreams/upstream.ts'

export interface GatewayOptions {
  readonly logger: Logger
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads across workspaces. */
  readonly worker: Database
  readonly authenticator: Authenticator
  /** The text of API keys. */
  readonly format: KeyFormat
  readonly upstreams: Upstreams
  readonly apps: AppsClient
  readonly operators: OperatorAuthenticator
  /** Whether the admin API has a listener of its own, see createAdminApp. */
  readonly isAdminApart?: boolean
  readonly tokens: ServiceTokens<'gateway'>
  /** The gateway's address, as browsers see it. */
  readonly publicUrl: URL
  /** Counts the calls of API keys. */
  readonly takeCall: TakeCall
  /** The proxies before the gateway, as addresses and CIDR blocks; none unless given. */
  readonly trustedProxies?: readonly string[]
  readonly clock?: () => Date
  /** How slowly a client may take its answers; as in production unless a test says otherwise. */
  readonly writeLimits?: WriteLimits | undefined
  /** Whether an admin answer that differs from its declaration fails: for tests. */
  readonly checkResponses?: boolean
}

const now = () => new Date()

/** The gateway's API: the proxy under `/v1`, files, pages of apps, `/admin/v1`, `/internal` and documentation. */
export function createGatewayApp({ clock = now, ...options }: GatewayOptions): FastifyInstance {
  const { logger, tokens, trustedProxies = [], authenticator, writeLimits } = options
  const refuseEarly: RefuseEarly = ({ url, headers }, address) =>
    url?.startsWith('/v1') ? authenticator.refuseEarly({ headers, address }, clock()) : undefined
  const app = createApp({ logger, trustRequestId: false, trustedProxies, refuseEarly, writeLimits })
  keepFromCaches(app)
  refuseTwoCredentials(app)
  addProxy(app, {
    authenticator,
    takeCall: options.takeCall,
    signer: tokens.signer,
    upstreams: options.upstreams,
    clock,
  })
  addAssets(app, options.upstreams.catalog.public)
  addPublicKeys(app, options.upstreams.apps.public)
  addPages(app, { ...options, ids: signedIds(tokens.signingKeys) })
  if (!options.isAdminApart) addAdmin(app, options, clock)
  const internalRoutes = internalOperations(options.format).map((one) =>
    operationRoute(one, { db: options.db, verifyToken: tokens.verify, clock }),
  )
  addRoutes(app, internalRoutes, options.checkResponses)
  const document = mergedDocument(
    Object.values(options.upstreams).map(({ requests }) => requests),
    clock,
  )
  app.get('/openapi.json', async () => document())
  addDocsPage(app)
  return app
}

/** The admin API on a listener of its own: nothing but `/admin/v1`. */
export function createAdminApp({ clock = now, ...options }: GatewayOptions): FastifyInstance {
  const { logger, trustedProxies = [] } = options
  const app = createApp({ logger, trustRequestId: false, trustedProxies })
  keepFromCaches(app)
  refuseTwoCredentials(app)
  addAdmin(app, options, clock)
  return app
}

function addAdmin(app: FastifyInstance, options: GatewayOptions, clock: () => Date): void {
  const { tokens, publicUrl, checkResponses } = options
  const links = pageLinks(signedIds(tokens.signingKeys), publicUrl)
  const dependencies = { ...options, signer: tokens.signer, links, clock }
  addRoutes(
    app,
    adminOperations.map((one) => adminRoute(one, dependencies)),
    checkResponses,
  )
}
