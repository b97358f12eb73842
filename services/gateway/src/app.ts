import { createApp } from '@backoffice/http/app.ts'
import { TOKEN_LIFETIME_MS, tokenSigner } from '@backoffice/http/internal-token.ts'
import { addRoutes } from '@backoffice/http/route.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { FastifyInstance } from 'fastify'
import { type AnyAdminOperation, adminRoute } from './admin/admin-operation.ts'
import { listAudit } from './audit/list-audit.ts'
import { addDocsPage } from './docs/docs-page.ts'
import { mergedDocument } from './docs/openapi.ts'
import type { Authenticator } from './keys/authenticator.ts'
import { createKey } from './keys/create-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { addAssets } from './proxy/assets.ts'
import { callerTokens } from './proxy/caller-token.ts'
import { addProxy } from './proxy/proxy.ts'
import type { ServiceName } from './proxy/routes.ts'
import type { Upstream } from './proxy/upstream.ts'
import { rateLimiter } from './rate-limit/rate-limiter.ts'
import type { RateLimit } from './rate-limit/token-bucket.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { updateSettings } from './workspaces/update-settings.ts'

const ADMIN_OPERATIONS: readonly AnyAdminOperation[] = [
  createWorkspace,
  listWorkspaces,
  updateSettings,
  createKey,
  listKeys,
  rotateKey,
  revokeKey,
  listAudit,
]

export interface GatewayOptions {
  readonly logger: Logger
  /** Writes inside one workspace. */
  readonly db: Database
  /** Reads across workspaces. */
  readonly worker: Database
  readonly authenticator: Authenticator
  readonly upstreams: Readonly<Record<ServiceName, Upstream>>
  /** The catalog, over connections that only files use. */
  readonly files: Upstream
  readonly adminToken: string
  /** The private key of the internal token, base64 DER PKCS8. */
  readonly tokenKey: string
  /** The limit of workspaces that have none of their own. */
  readonly rateLimit: RateLimit
  readonly clock?: () => Date
  /** Fail an admin answer that is not exactly as declared: tests run so. */
  readonly checkResponses?: boolean
}

/** The gateway's API: `/v1` passed on to the services, stored files under `/assets`, `/admin/v1`, and the API's documentation. */
export function createGatewayApp({ clock = () => new Date(), ...options }: GatewayOptions): FastifyInstance {
  const app = createApp({ logger: options.logger, trustRequestId: false })
  addProxy(app, {
    authenticator: options.authenticator,
    takeCall: rateLimiter(options.rateLimit),
    tokenOf: callerTokens(tokenSigner(options.tokenKey), TOKEN_LIFETIME_MS),
    upstreams: options.upstreams,
    files: options.files,
    clock,
  })
  addAssets(app, options.files)
  addRoutes(
    app,
    ADMIN_OPERATIONS.map((operation) => adminRoute(operation, { ...options, clock })),
    { checkResponses: options.checkResponses ?? false },
  )
  const document = mergedDocument(Object.values(options.upstreams), clock)
  app.get('/openapi.json', async () => document())
  addDocsPage(app)
  return app
}
