import { fileURLToPath } from 'node:url'
import { consumersOf, type ServiceName } from '@backoffice/contracts/services.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import { createServiceApp, httpServer, type Listener } from '@backoffice/http/server.ts'
import type { Consumer } from '@backoffice/messaging/consumer.ts'
import { type Database, type DatabaseOptions, openDatabase } from '@backoffice/postgres/database.ts'
import { expireIdempotencyKeys } from '@backoffice/postgres/idempotency.ts'
import { migrationsApplied } from '@backoffice/postgres/migrations-applied.ts'
import { isLostWhileOpened } from '@backoffice/postgres/postgres-errors.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { type Component, type ProcessContext, runProcess } from '@backoffice/runtime/process.ts'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { loadMessaging, type Messaging } from './load-messaging.ts'
import type { ConfigOf, ServiceConfig } from './service-config.ts'
import { deleteWorkspaces } from './workspaces/delete-workspaces.ts'
import { getRows } from './workspaces/get-rows.ts'
import { workspaceConsumer } from './workspaces/workspace-consumer.ts'
import type { WorkspaceHooks } from './workspaces/workspace-hooks.ts'

interface PoolOptions extends Pick<DatabaseOptions, 'poolSize' | 'settings'> {
  /** The app role acts inside one workspace, the worker role across workspaces. */
  readonly role: 'app' | 'worker'
}

/** What a service's declaration is built from. */
export interface ServiceContext<Config> extends ProcessContext, Pick<Messaging, 'consume' | 'wakeRelay'> {
  readonly config: Config
  /** The connections for requests, of the app role. */
  readonly db: Database
  /** Opens a further pool. pg_stat_activity shows it as `<service> <purpose>`. */
  openPool(purpose: string, options: PoolOptions): Database
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
type ServiceDeclaration = ServiceApi & {
  /** Start before the consumers and stop after them. */
  readonly components?: readonly Component[]
  /** One for each consumer of the service's row but `workspaces`, which every service has. */
  readonly consumers?: readonly Consumer[]
  /** What the service does besides the usual when a workspace is suspended, resumed or deleted. */
  readonly workspaces?: WorkspaceHooks
  /** Start after the consumers and stop before them. */
  readonly workers?: readonly Component[]
}

/**
 * Runs a service's process until SIGTERM or SIGINT (see runProcess). Starts the pools, Kafka and the relay, then the
 * declared components, consumers and workers, HTTP last; stops them in the reverse order. The relay is there for a service
 * that publishes. A setting that is missing or wrong ends the process
 * with one line of the log that names it.
 */
export async function runService<Name extends ServiceName, Schema extends z.ZodType<ServiceConfig & ConfigOf<Name>>>(
  name: Name,
  schema: Schema,
  declare: (context: ServiceContext<z.output<Schema>>) => ServiceDeclaration,
): Promise<void> {
  // All modules are loaded before the configuration is read: a start without one fills the compile cache.
  const openMessaging = await loadMessaging(name)
  const config = configOf(name, schema)
  const build = (context: ProcessContext) => {
    const messaging = openMessaging(config, context)
    const pools: Database[] = []
    const openPool = (applicationName: string, { role, ...options }: PoolOptions) => {
      const url = role === 'app' ? config.DATABASE_URL : config.WORKER_DATABASE_URL
      const pool = openDatabase({ ...options, url, applicationName, onPublished: messaging.wakeRelay })
      pools.push(pool)
      return pool
    }
    const db = openPool(name, { role: 'app', settings: REQUEST_SETTINGS })
    const declaration = declare({
      ...context,
      config,
      db,
      openPool: (purpose, options) => openPool(`${name} ${purpose}`, options),
      consume: messaging.consume,
      wakeRelay: messaging.wakeRelay,
    })
    const { components = [], workers = [], workspaces = {} } = declaration
    const consumers = [...(declaration.consumers ?? [])]
    const pool = openPool(`${name} workspaces`, { role: 'app', poolSize: 2 })
    const deletions = deleteWorkspaces({ db: pool, hooks: workspaces, wakeRelay: messaging.wakeRelay }, context.logger)
    // The gateway publishes the records, and notes deletions by itself.
    if (name !== 'gateway') consumers.push(messaging.consume(workspaceConsumer(name, workspaces, deletions.wake), pool))
    refuseOtherConsumers(name, consumers)
    return [
      ...pools,
      migrationsApplied(db, migrationsOf(name)),
      ...messaging.components,
      ...components,
      ...consumers,
      deletions,
      ...workers,
      ...servers(declaration, config, db, context.logger),
    ]
  }
  await runProcess(name, config, build, isLostWhileOpened)
}

/** The components that answer requests and, for operations, the worker that deletes expired idempotency keys. */
function servers(api: ServiceDeclaration, config: ServiceConfig, db: Database, logger: Logger): readonly Component[] {
  if ('app' in api) return [httpServer(api.app, config, api.further)]
  const { INTERNAL_TOKEN_PUBLIC_KEY: tokenKey = '' } = config
  const { workspaces = {} } = api
  const operations = [...api.operations, getRows(db, workspaces)]
  const app = createServiceApp({ logger, db, tokenKey, operations })
  api.addRoutes?.(app)
  return [expireIdempotencyKeys(api.worker, logger), httpServer(app, config)]
}

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

function configOf<Schema extends z.ZodType>(name: ServiceName, schema: Schema): z.output<Schema> {
  try {
    return readConfig(schema)
  } catch (error) {
    createLogger(name, 'error').error((error as Error).message)
    process.exit(1)
  }
}
