import { fileURLToPath } from 'node:url'
import { consumersOf, type ServiceName } from '@backoffice/contracts/services.ts'
import type { TokenVerifier } from '@backoffice/http/internal-token.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import { createServiceApp, httpServer, type Listener } from '@backoffice/http/server.ts'
import type { Consumer } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { processClock } from '@backoffice/postgres/database-clock.ts'
import { databaseProbe } from '@backoffice/postgres/database-probe.ts'
import { appServer, workerServer } from '@backoffice/postgres/database-settings.ts'
import { expireIdempotencyKeys } from '@backoffice/postgres/idempotency.ts'
import { migrationsApplied } from '@backoffice/postgres/migrations-applied.ts'
import { isLostWhileOpened } from '@backoffice/postgres/postgres-errors.ts'
import { REQUEST_SETTINGS, REQUEST_TRANSACTION_MS } from '@backoffice/postgres/request-settings.ts'
import { builtAtStart, type Component } from '@backoffice/runtime/component.ts'
import { readConfig, type Settings } from '@backoffice/runtime/config.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { type ProcessContext, runProcess } from '@backoffice/runtime/process.ts'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { Check } from './checks/check.ts'
import { checkRequests } from './checks/check-requests.ts'
import type { ChecksOf } from './checks/check-run.ts'
import { runChecks } from './checks/run-checks.ts'
import { loadMessaging, type Messaging } from './load-messaging.ts'
import { operatorRequests } from './operator-requests.ts'
import type { ConfigOf, ServiceConfig } from './service-config.ts'
import { type Pool, WORKSPACES_POOL } from './service-pools.ts'
import { type ServiceTokens, serviceTokens } from './service-tokens.ts'
import { deleteWorkspaces } from './workspaces/delete-workspaces.ts'
import { getRows } from './workspaces/get-rows.ts'
import { workspaceConsumer } from './workspaces/workspace-consumer.ts'
import type { WorkspaceHooks } from './workspaces/workspace-hooks.ts'

/** What a service's declaration is built from. */
export interface ServiceContext<Name extends ServiceName, Config, Purpose extends string>
  extends ProcessContext,
    Pick<Messaging, 'consume' | 'kafka' | 'wakeRelay'> {
  readonly config: Config
  readonly tokens: ServiceTokens<Name>
  /** The connections for requests, of the app role. */
  readonly db: Database
  /** The service's further pools by their purposes. */
  readonly pools: Readonly<Record<Purpose, Database>>
}

/** A service's API: operations, or an app of its own. */
type ServiceApi =
  | {
      readonly operations: readonly AnyOperation[]
      /** A pool of the worker role: expired idempotency keys are deleted over it. */
      readonly worker: Database
      /** Adds routes that are not operations. */
      addRoutes?(app: FastifyInstance): void
    }
  | {
      readonly app: FastifyInstance
      /** Further apps, each on a port of its own. */
      readonly further?: readonly Listener[]
    }

/** A service: its API and everything that runs beside it. */
type ServiceDeclaration<Name extends ServiceName> = ServiceApi & {
  /** Start at the same time, before the consumers, and stop after them. */
  readonly components?: readonly Component[]
  /** What consumers hand their work to: start before them and stop at the same time. */
  readonly stages?: readonly Component[]
  /** One for each consumer of the service's row but `workspaces`, which every service has. */
  readonly consumers?: readonly Consumer[]
  /** What operators ask it to check (OP-299). */
  readonly checks?: Readonly<Record<ChecksOf<Name>, Check>>
  /** What the service does besides the usual when a workspace is suspended, resumed or deleted. */
  readonly workspaces?: WorkspaceHooks
  /** Start after the consumers and stop at the same time. */
  readonly workers?: readonly Component[]
}

/**
 * Runs a service until SIGTERM or SIGINT (`runProcess`): pools, the wait for its migrations, Kafka and the relay, then
 * the declared components, consumers and workers, HTTP last. On a stop everything that accepts work stops at the same
 * time, then the others in the reverse order. A wrong setting ends it with one log line that names it.
 */
export async function runService<
  Name extends ServiceName,
  Schema extends Settings<ServiceConfig & ConfigOf<Name>>,
  Purpose extends string,
>(
  name: Name,
  schema: Schema,
  furtherPools: Readonly<Record<Purpose, Pool>>,
  declare: (context: ServiceContext<Name, z.output<Schema>, Purpose>) => ServiceDeclaration<Name>,
): Promise<void> {
  // All modules are loaded before the configuration is read: a start without one fills the compile cache.
  const openMessaging = await loadMessaging(name)
  const { config, tokens } = await configurationOf(name, schema)
  const build = (context: ProcessContext) => {
    // Every loop is awake when the process starts, and while there are requests or records.
    let started: readonly Component[] = []
    const rouse = () => {
      for (const component of started) component.rouse?.()
    }
    const messaging = openMessaging(config, context, rouse)
    const databases = { app: appServer(config), worker: workerServer(config) }
    const all: Database[] = []
    const openPool = (applicationName: string, { role, settings = {}, sessions: _, ...limits }: Pool) => {
      const connection =
        role === 'app' ? { ...databases.app, transactionSettings: settings } : { ...databases.worker, settings }
      const pool = openDatabase({ ...limits, ...connection, applicationName, onPublished: messaging.wakeRelay })
      all.push(pool)
      return pool
    }
    const db = openPool(name, {
      role: 'app',
      poolSize: config.DATABASE_POOL_SIZE,
      settings: REQUEST_SETTINGS,
      endWithinMs: REQUEST_TRANSACTION_MS,
    })
    const pools = Object.fromEntries(
      Object.entries<Pool>(furtherPools).map(([purpose, pool]) => [purpose, openPool(`${name} ${purpose}`, pool)]),
    ) as Record<Purpose, Database>
    const declaration = declare({ ...context, ...messaging, config, tokens, db, pools })
    const { components = [], stages = [], workers = [], workspaces = {} } = declaration
    const consumers = [...(declaration.consumers ?? [])]
    const pool = openPool(`${name} workspaces`, WORKSPACES_POOL)
    const { logger } = context
    const deletions = deleteWorkspaces({ db: pool, hooks: workspaces, wakeRelay: messaging.wakeRelay, logger })
    // The gateway publishes the records, and notes deletions by itself.
    if (name !== 'gateway') consumers.push(messaging.consume(workspaceConsumer(name, workspaces, deletions.wake), pool))
    refuseOtherConsumers(name, consumers)
    const migrations = migrationsApplied(db, migrationsOf(name), logger)
    const answering = { db, logger, verifyToken: tokens.verify }
    const { checks } = declaration
    const http = servers(declaration, config, { ...answering, rouse }, (worker) => {
      const requests = operatorRequests({ name, worker, ...messaging })
      if (checks === undefined) return { requests, workers: [] }
      const running = runChecks(name, checks, { server: databases.worker, pool: worker, logger })
      return { requests: [...requests, ...checkRequests(checks, worker, running.wake)], workers: [running] }
    })
    const connections = [
      databaseProbe({ ...databases.app, setting: 'DATABASE_URL', applicationName: `${name} probe` }, context),
      databaseProbe(
        { ...databases.worker, setting: 'WORKER_DATABASE_URL', applicationName: `${name} worker probe` },
        context,
      ),
      messaging.kafka,
    ]
    const used = [...all, connections, processClock(pool.sql, logger), migrations, ...messaging.components, components]
    const accepting = [...stages, ...consumers, deletions, ...workers, ...http]
    started = [...used.flat(), ...accepting]
    rouse()
    return { used, accepting }
  }
  await runProcess(name, config, build, isLostWhileOpened)
}

/** What a service answers operators, and the workers that carry it out. */
type ForOperators = (worker: Database) => {
  readonly requests: readonly AnyOperation[]
  readonly workers: readonly Component[]
}

/** The components that answer requests and, for operations, those that do what follows from them. */
function servers(
  api: ServiceApi & { readonly workspaces?: WorkspaceHooks },
  config: ServiceConfig,
  { db, logger, verifyToken, rouse }: { db: Database; logger: Logger; verifyToken: TokenVerifier; rouse: () => void },
  forOperators: ForOperators,
): readonly Component[] {
  if ('app' in api) {
    for (const { app } of [api, ...(api.further ?? [])]) afterChanges(app, rouse)
    return [httpServer(api.app, config, api.further)]
  }
  const { workspaces = {} } = api
  const { requests, workers } = forOperators(api.worker)
  const operations = [...api.operations, getRows(db, workspaces), ...requests]
  // Built when it starts, after all others: what they do need not wait for its routes.
  const http = builtAtStart('http', () => {
    const app = createServiceApp({ logger, db, verifyToken, operations })
    api.addRoutes?.(app)
    afterChanges(app, rouse)
    return httpServer(app, config)
  })
  return [expireIdempotencyKeys(api.worker, logger), ...workers, http]
}

/** Has `work` called after each request that may have changed something. */
const afterChanges = (app: FastifyInstance, work: () => void) =>
  app.addHook('onResponse', ({ method }, _reply, done) => {
    if (method !== 'GET') work()
    done()
  })

/** Throws unless the service runs the consumers of its row: their dead-letter topics follow from it. */
function refuseOtherConsumers(name: ServiceName, consumers: readonly Pick<Consumer, 'name' | 'topics'>[]): void {
  const described = (all: typeof consumers) =>
    all
      .map((consumer) => `${consumer.name} (${consumer.topics.join(', ')})`)
      .toSorted()
      .join(', ') || 'no consumer'
  const [declared, expected] = [described(consumers), described(consumersOf(name))]
  if (declared !== expected) throw new Error(`${name} runs ${declared}; its row in SERVICES has ${expected}`)
}

const migrationsOf = (name: ServiceName): string =>
  fileURLToPath(new URL(`../../../services/${name}/migrations`, import.meta.url))

async function configurationOf<Name extends ServiceName, Schema extends Settings<ServiceConfig>>(
  name: Name,
  schema: Schema,
) {
  try {
    const config = readConfig(schema)
    return { config, tokens: await serviceTokens(name, config) }
  } catch (error) {
    createLogger(name, 'error').error((error as Error).message)
    process.exit(1)
  }
}
