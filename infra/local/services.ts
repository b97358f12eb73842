import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { startChild } from './child.ts'
import { type Part, startPart } from './part.ts'
import type { Secrets } from './secrets.ts'

/** A service as the local stack runs it. */
export interface ServiceDefinition {
  readonly name: string
  /** Flags of Node's besides those every service gets. */
  readonly flags?: readonly string[]
  /** Its own variables, besides those every service gets. */
  environment(stack: StackEnvironment): NodeJS.ProcessEnv
}

/** What services are told about the stack they run in. */
export interface StackEnvironment {
  /** Where the stack keeps its data. */
  readonly directory: string
  readonly postgres: string
  readonly kafka: readonly string[]
  readonly registry: string
  readonly secrets: Secrets
  readonly urls: Readonly<Record<string, string>>
}

/** On a large machine V8 lets a hundred megabytes of young garbage pile up first. */
const FLAGS = ['--max-semi-space-size=8']
/**
 * The GNU C library would keep what large buffers were in, in many places (mallopt(3)). Measured: 20 MB less in a burst at no cost in
 * time; without effect on other libraries.
 */
const ALLOCATION = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }
/**
 * For a service that handles much and holds little, bounded well below (decision 005): measured, both flags halve its memory in a
 * burst at no cost in time.
 */
const SMALL_HEAP = ['--max-old-space-size=160']

/** The services, in the order they are stopped in: what calls others goes before them. */
export const services: readonly ServiceDefinition[] = [
  {
    name: 'gateway',
    environment: ({ secrets, urls }) => ({
      ADMIN_TOKEN: secrets.adminToken,
      INTERNAL_TOKEN_PRIVATE_KEY: secrets.internalPrivateKey,
      CATALOG_URL: urls.catalog,
      COLLECTIONS_URL: urls.collections,
      WEBHOOK_DELIVERY_URL: urls['webhook-delivery'],
    }),
  },
  {
    name: 'collections',
    environment: ({ urls }) => ({ CATALOG_URL: urls.catalog, ASSETS_URL: `${urls.gateway}/assets` }),
  },
  {
    name: 'catalog',
    environment: ({ directory, urls }) => ({
      ASSETS_DIRECTORY: join(directory, 'assets'),
      ASSETS_URL: `${urls.gateway}/assets`,
    }),
  },
  {
    name: 'webhook-delivery',
    flags: SMALL_HEAP,
    environment: ({ secrets }) => ({ WEBHOOK_SECRET_KEYS: secrets.webhookSecretKey, WEBHOOK_ALLOW_LOOPBACK: 'true' }),
  },
]

/** The Postgres schema of a service, which is also the name of its role. */
export const schemaOf = (name: string): string => name.replaceAll('-', '_')

/** The folder of a service. */
export const serviceDirectory = (name: string): string => join(import.meta.dirname, '../../services', name)

interface ServiceRun {
  readonly port: number
  readonly opsPort: number
  readonly stack: StackEnvironment
  onLine(line: string): void
  onDeath(how: string): void
}

/** Starts a service as a process of its own; resolves once it is ready. */
export function startService(service: ServiceDefinition, run: ServiceRun): Promise<Part> {
  const main = mainOf(service.name)
  let lastLine = existsSync(main) ? 'it printed nothing' : `${main} is missing`
  return startPart({
    name: service.name,
    launch: () =>
      startChild({
        name: service.name,
        file: process.execPath,
        args: [...FLAGS, ...(service.flags ?? []), main],
        env: {
          ...process.env,
          ...ALLOCATION,
          ...commonEnvironment(service.name, run),
          ...service.environment(run.stack),
        },
        output: (line) => {
          lastLine = line
          run.onLine(line)
        },
      }),
    isReady: () => answersOk(`http://127.0.0.1:${run.opsPort}/readyz`),
    explain: () => lastLine,
    onDeath: run.onDeath,
  })
}

function commonEnvironment(name: string, { port, opsPort, stack }: ServiceRun): NodeJS.ProcessEnv {
  const schema = schemaOf(name)
  const { rolePassword, internalPublicKey } = stack.secrets
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    OPS_PORT: String(opsPort),
    DATABASE_URL: roleUrl(stack.postgres, schema, rolePassword),
    WORKER_DATABASE_URL: roleUrl(stack.postgres, `${schema}_worker`, rolePassword),
    KAFKA_BROKERS: stack.kafka.join(','),
    SCHEMA_REGISTRY_URL: stack.registry,
    INTERNAL_TOKEN_PUBLIC_KEY: internalPublicKey,
  }
}

/**
 * Leaves the services' stripped sources in the compile cache, by running each without configuration, which it refuses as
 * soon as it is loaded. A service that strips its own sources keeps the stripper's 18 MB for as long as it runs.
 */
export async function cacheSources(): Promise<void> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  if (NODE_COMPILE_CACHE === undefined) return
  for (const { name } of services) {
    const env = { PATH, NODE_COMPILE_CACHE }
    await once(spawn(process.execPath, [mainOf(name)], { env, stdio: 'ignore' }), 'exit')
  }
}

const mainOf = (name: string) => join(serviceDirectory(name), 'src', 'main.ts')

const answersOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
