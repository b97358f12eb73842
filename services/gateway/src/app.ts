import { type AppOptions, createApp } from '@backoffice/http/app.ts'
import { LargeAnswers } from '@backoffice/http/large-answers.ts'
import { byToken, operationRoute } from '@backoffice/http/operation.ts'
import type { RefuseEarly } from '@backoffice/http/refuse-early.ts'
import { addRoutes } from '@backoffice/http/route.ts'
import type { WriteLimits } from '@backoffice/http/write-deadline.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { ServiceTokens } from '@backoffice/service/service-tokens.ts'
import type { FastifyInstance } from 'fastify'
import { withDocument } from './admin/admin-document.ts'
import { type AdminDependencies, adminRoute } from './admin/admin-operation.ts'
import type { RequestLog } from './admin/requests/request-log.ts'
import { addConsole } from './console/add-console.ts'
import { presentedText, refuseTwoCredentials } from './credentials/bearer-token.ts'
import { type ConsoleRequests, consoleRequests } from './credentials/console/console-requests.ts'
import { operatorSessions } from './credentials/console/operator-sessions.ts'
import type { KeyUses } from './credentials/key-uses.ts'
import type { Authenticator } from './credentials/keys/authenticator.ts'
import { adminOperations, internalOperations, ownOperations } from './operations.ts'
import { addPages } from './pages/add-pages.ts'
import { pageLinks } from './pages/links/page-links.ts'
import { signedIds } from './pages/links/signed-ids.ts'
import { addOwnOperations } from './public/account/add-own-operations.ts'
import { addDocs } from './public/docs/docs-page.ts'
import { addGuides } from './public/guides/guides.ts'
import { admission } from './public/proxy/admission.ts'
import { compressAnswers } from './public/proxy/compress-answers.ts'
import { keepFromCaches } from './public/proxy/headers.ts'
import { addProxy } from './public/proxy/proxy.ts'
import { addAssets, addPublicKeys } from './public/proxy/public-files.ts'
import type { RequestCounts } from './public/proxy/request-counts.ts'
import type { TakeCall } from './public/rate-limit/call-answer.ts'

export interface GatewayOptions
  extends Omit<AdminDependencies, 'clock' | 'links' | 'signer' | 'consoleRequests' | 'operatorSessions'> {
  readonly logger: Logger
  readonly authenticator: Authenticator
  /** Notes when sessions of operators are used. */
  readonly uses: Pick<KeyUses, 'note'>
  readonly requests: RequestLog
  /** Whether the admin API has a listener of its own, see createAdminApp. */
  readonly isAdminApart?: boolean
  readonly tokens: ServiceTokens<'gateway'>
  /** The gateway's address, as browsers see it. */
  readonly publicUrl: URL
  /** What the URLs of stored files begin with. */
  readonly assetsUrl?: string | undefined
  /** Counts the calls of API keys. */
  readonly takeCall: TakeCall
  /** Counts the requests of workspaces. */
  readonly noteRequest: RequestCounts['note']
  /** The proxies before the gateway, as addresses and CIDR blocks; none unless given. */
  readonly trustedProxies?: readonly string[]
  /** The built pages of the console; those of this repository unless given. */
  readonly consoleFolder?: URL
  readonly clock?: () => Date
  /** How slowly a client may take its answers; as in production unless a test says otherwise. */
  readonly writeLimits?: WriteLimits | undefined
  /** Whether an admin answer that differs from its declaration fails: for tests. */
  readonly checkResponses?: boolean
}

/** What keys and sessions of workspaces ask for; a session of the console for `/v1` by this path, too. */
const OF_KEYS = /^\/(?:v1|console\/api)/
const OF_SESSIONS = /^\/console\/session(?=[?]|$)/

/** The gateway's API: `/v1`, files, pages of apps, the console, `/admin/v1`, `/internal` and documentation. */
export function createGatewayApp({ clock = currentTime, ...options }: GatewayOptions): FastifyInstance {
  const { tokens, authenticator, upstreams, db, checkResponses } = options
  const requests = consoleRequests({ publicUrl: options.publicUrl, has: options.isAdminApart ? 'v1' : 'both' })
  const refuseEarly: RefuseEarly = (request, address) => {
    const { url = '', method, headers } = request
    const isOfConsole = requests.has(request)
    const refusalOf = {
      console: () => authenticator.refuseEarly(() => requests.firstCookie(headers, 'console'), address, clock()),
      operator: () =>
        operators?.sessions.refuseEarly(() => requests.firstCookie(headers, 'operator'), address, clock()),
    }
    if (OF_KEYS.test(url))
      return isOfConsole
        ? refusalOf.console()
        : authenticator.refuseEarly(() => presentedText(headers), address, clock())
    if (isOfConsole) return refusalOf.operator()
    // Whoever logs in sends another credential, and one wrong cookie says nothing of the other.
    if (!OF_SESSIONS.test(url) || method !== 'GET') return undefined
    const sent = (['console', 'operator'] as const).filter((kind) => requests.firstCookie(headers, kind) !== undefined)
    const refusals = sent.map((kind) => refusalOf[kind]())
    return refusals.includes(undefined) ? undefined : refusals[0]
  }
  const further = { refuseEarly, onAnswered: options.requests.note, writeLimits: options.writeLimits }
  const app = openApp(options, requests, further)
  const admit = admission({ ...options, consoleRequests: requests, clock })
  addProxy(app, { admit, upstreams, signer: tokens.signer, clock })
  const own = ownOperations({ ...options, signer: tokens.signer })
  const dependencies = { db, clock, largeAnswers: new LargeAnswers() }
  addOwnOperations(
    app,
    admit,
    (authenticate) => own.map((one) => operationRoute(one, { ...dependencies, authenticate })),
    checkResponses,
  )
  addAssets(app, upstreams.catalog.public)
  addPublicKeys(app, upstreams.apps.public)
  addPages(app, { ...options, consoleRequests: requests, clock, ids: signedIds(tokens.signingKeys) })
  const operators = options.isAdminApart ? undefined : addAdmin(app, options, requests, clock)
  const keys = { authenticator, takeCall: options.takeCall }
  addConsole(app, { ...options, consoleRequests: requests, clock, keys, operators })
  const internal = { ...dependencies, authenticate: byToken(tokens.verify, clock) }
  const internalRoutes = internalOperations(options.format).map((one) => operationRoute(one, internal))
  addRoutes(app, internalRoutes, checkResponses)
  const describing = Object.values(upstreams).map(({ requests }) => requests)
  addDocs(app, describing, { own, server: options.publicUrl.origin, clock })
  addGuides(app)
  return app
}

/** The admin API on a listener of its own: `/admin/v1`, and the console for operators. */
export function createAdminApp({ clock = currentTime, ...options }: GatewayOptions): FastifyInstance {
  const requests = consoleRequests({ publicUrl: options.publicUrl, has: 'admin' })
  const app = openApp(options, requests)
  const operators = addAdmin(app, options, requests, clock)
  addConsole(app, { ...options, consoleRequests: requests, clock, keys: undefined, operators })
  return app
}

function openApp(
  { logger, trustedProxies = [] }: GatewayOptions,
  requests: ConsoleRequests,
  further: Partial<AppOptions> = {},
): FastifyInstance {
  const app = createApp({ logger, trustRequestId: false, trustedProxies, readTarget: requests.read, ...further })
  app.addHook('onRequest', async ({ raw }) => {
    if (requests.has(raw)) requests.refuseForged(raw)
  })
  keepFromCaches(app)
  compressAnswers(app)
  refuseTwoCredentials(app)
  return app
}

/** Adds the admin API. Returns what opens sessions of its operators in the console. */
function addAdmin(app: FastifyInstance, options: GatewayOptions, requests: ConsoleRequests, clock: () => Date) {
  const { tokens, publicUrl, checkResponses, operators } = options
  const links = pageLinks(signedIds(tokens.signingKeys), publicUrl)
  const sessions = operatorSessions(options)
  const ofConsole = { consoleRequests: requests, operatorSessions: sessions }
  const dependencies = { ...options, ...ofConsole, signer: tokens.signer, links, clock }
  const routes = Object.values(withDocument(adminOperations)).map((one) => adminRoute(one, dependencies))
  addRoutes(app, routes, checkResponses)
  return { authenticator: operators, sessions }
}
