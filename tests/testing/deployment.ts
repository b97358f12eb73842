import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES, type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { FEW_PARTITIONS, topics } from '@backoffice/contracts/topics.ts'
import { rolePasswords, stackSecrets } from '@backoffice/local/secrets.ts'
import type { StackEnvironment } from '@backoffice/local/service-settings.ts'
import { serviceDirectory, startService } from '@backoffice/local/services.ts'
import { writeStackFile } from '@backoffice/local/stack-file.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { registerSchemas } from '@backoffice/messaging/registry/register-schemas.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision } from '@backoffice/postgres/provision.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { startPostgres } from '@backoffice/testing/servers/postgres.ts'
import { startRegistry } from '@backoffice/testing/servers/registry.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import pMap from 'p-map'
import { type Place, startBalancer } from './balancer.ts'

/** Settings besides those of the stack, or in their place, by service. */
export type VersionSettings = Readonly<Partial<Record<ServiceName, NodeJS.ProcessEnv>>>

/** The code and the settings of the processes. */
export interface Version {
  /** The folder of the bundled services, by service; that of this version unless given. */
  readonly programsIn?: Readonly<Partial<Record<ServiceName, string>>>
  readonly settings?: VersionSettings
}

/** Every service with several replicas behind a balancer, on the schema of this version. */
export interface Deployment {
  /** The folder with stack.json, so that `npx backoffice` works on the deployment with `STACK_DIR`. */
  readonly directory: string
  readonly stack: StackEnvironment
  readonly postgres: ManagedProcess
  /** Starts all replicas. */
  start(version: Version): Promise<void>
  /** Stops all replicas. */
  stop(): Promise<void>
  /**
   * Replaces the replicas of services, all unless named, as Kubernetes does: ends one, by SIGTERM, when a new one is
   * ready. Returns when the former ones have ended.
   */
  replace(version: Version, names?: readonly ServiceName[]): Promise<void>
  /** Lines of the replicas' logs at level error, and what the balancer took out. */
  readonly errors: readonly string[]
}

/** Processes that are started at the same time: two cores bear no more. */
const CONCURRENCY = 2

interface DeploymentOptions {
  /** Of each service. */
  readonly replicas: number
  readonly postgresSettings?: Readonly<Record<string, string>>
  /** A Kafka of the test's own, which keeps three copies of each record; one broker unless given. */
  readonly cluster?: readonly string[]
  /** The URL over which the services reach PostgreSQL, when it is another than the server's own. */
  addressOf?(serverUrl: string): Promise<string>
  /** How often the balancer asks each replica whether it is ready; 200 ms unless given. */
  readonly askReadinessEvery?: string
  /** Registers the schemas of the version before. With it, the deployment has a registry of its own. */
  registerFormerSchemas?(registryUrl: string): Promise<void>
}

/**
 * Prepares PostgreSQL, Kafka, the registry and the balancer. The services get the environment of this process, with
 * KAFKA_PREFIX. Everything is stopped after the test file.
 */
export async function prepareDeployment({
  replicas,
  postgresSettings = {},
  cluster,
  addressOf = async (url) => url,
  askReadinessEvery = '200ms',
  registerFormerSchemas,
}: DeploymentOptions): Promise<Deployment> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-deployment-'))
  chmodSync(directory, 0o755)
  whenDone(() => rmSync(directory, { recursive: true, force: true }))
  const secrets = stackSecrets(directory)
  const [postgres, brokers, registryUrl] = await Promise.all([
    preparedPostgres(directory, postgresSettings),
    preparedBrokers(directory, cluster),
    preparedRegistry(directory, registerFormerSchemas),
  ])
  // A replica that ends has its place until it has ended.
  const balanced = await Promise.all(SERVICE_NAMES.map((name) => withPorts(name, 2 * replicas)))
  const urls = Object.fromEntries(balanced.map(({ name, port }) => [name, `http://127.0.0.1:${port}`]))
  const stack = {
    directory,
    postgres: await addressOf(postgres.url),
    kafka: [...brokers],
    registry: registryUrl,
    secrets,
    urls,
  }
  const running = new Map<Place, ManagedProcess>()
  const errors: string[] = []
  const isOut = /is DOWN|no server available/
  /** The places that the balancer has in: all, before it has asked them. */
  const balancing = new Set(balanced.flatMap(({ name, places }) => places.map((_, index) => `${name}-${index}`)))
  await startBalancer(balanced, askReadinessEvery, (line) => {
    if (isOut.test(line)) errors.push(`${new Date().toISOString()} ${line}`)
    const [, server = '', state] = /Server \S+\/(\S+) is (UP|DOWN)/.exec(line) ?? []
    if (state === 'UP') balancing.add(server)
    if (state === 'DOWN') balancing.delete(server)
  })
  whenDone(() => Promise.all([...running.values()].map((replica) => replica.kill())))

  const placesOf = (service: ServiceName) => balanced.find(({ name }) => name === service)?.places ?? []
  const startReplica = async (name: ServiceName, { programsIn, settings }: Version) => {
    const places = placesOf(name)
    const place = places.find((one) => !running.has(one))
    if (place === undefined) throw new Error(`each place of ${name} is taken`)
    const replica = await startService(name, {
      ...place,
      stack,
      programsIn: programsIn?.[name],
      settings: settings?.[name] ?? {},
      onLine: (line) => {
        if (line.includes('"level":"error"')) errors.push(line)
      },
      onDeath: (how) => errors.push(`${name} ended by itself: ${how}`),
    })
    running.set(place, replica)
    return `${name}-${places.indexOf(place)}`
  }
  const endReplica = async (place: Place) => {
    await running.get(place)?.stop()
    running.delete(place)
  }
  /** Starts one replica more of each. Kubernetes, too, lists it as ready before it ends another one. */
  const startOneOfEach = async (names: readonly ServiceName[], version: Version) => {
    const started = await pMap(names, (name) => startReplica(name, version), { concurrency: CONCURRENCY })
    for (const server of started) await eventually(`the balancer has ${server} in`, () => balancing.has(server))
  }

  return {
    directory,
    stack,
    postgres,
    errors,
    async stop() {
      await Promise.all([...running.keys()].map(endReplica))
    },
    async start(version) {
      await eventually('the balancer has no replica in', () => balancing.size === 0)
      for (let round = 0; round < replicas; round++) await startOneOfEach(SERVICE_NAMES, version)
      const services = Object.fromEntries(
        balanced.map(({ name, places: [first] }) => [
          name,
          { pid: 0, url: urls[name] ?? '', operations: `http://127.0.0.1:${first?.opsPort}` },
        ]),
      )
      const addresses = {
        gateway: urls.gateway ?? '',
        postgres: stack.postgres,
        kafka: [...brokers],
        registry: registryUrl,
      }
      writeStackFile(directory, { ...addresses, admin_token: secrets.adminToken, workspaces: [], services })
    },
    async replace(version, names = SERVICE_NAMES) {
      const former = names.map((name) => placesOf(name).filter((place) => running.has(place)))
      const ends: Promise<void>[] = []
      for (let round = 0; round < replicas; round++) {
        await startOneOfEach(names, version)
        ends.push(...former.flatMap((places) => places.slice(round, round + 1)).map(endReplica))
      }
      await Promise.all(ends)
    },
  }
}

async function preparedPostgres(directory: string, settings: Readonly<Record<string, string>>) {
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), settings })
  whenDone(() => postgres.stop())
  await prepareSchemas(postgres.url, directory)
  return postgres
}

/** Those of the cluster, or one of the deployment's own: the topics of many tests keep the shared one busy. */
async function preparedBrokers(directory: string, cluster: readonly string[] | undefined): Promise<readonly string[]> {
  const brokers = cluster ?? (await ownBroker(directory))
  await prepareTopics(brokers, cluster ? 3 : 1)
  return brokers
}

async function ownBroker(directory: string): Promise<readonly string[]> {
  const kafka = await startKafka({ directory: join(directory, 'kafka') })
  whenDone(() => kafka.stop())
  return kafka.brokers
}

async function preparedRegistry(
  directory: string,
  registerFormerSchemas: DeploymentOptions['registerFormerSchemas'],
): Promise<string> {
  const url = registerFormerSchemas ? await ownRegistry(directory) : backingServices().registryUrl
  await registerFormerSchemas?.(url)
  await registerSchemas(url)
  return url
}

async function ownRegistry(directory: string): Promise<string> {
  const registry = await startRegistry({ directory: join(directory, 'registry') })
  whenDone(() => registry.stop())
  return registry.url
}

async function prepareSchemas(url: string, directory: string): Promise<void> {
  const passwordOf = rolePasswords(stackSecrets(directory))
  await provision(url, { schemas: SERVICE_NAMES.map(schemaOf), passwordOf })
  for (const name of SERVICE_NAMES) {
    const migrations = join(serviceDirectory(name), 'migrations')
    await migrate({ url: migratorUrl(url, passwordOf), schema: schemaOf(name), directory: migrations })
  }
}

/** Creates the topics with the prefix of this process. */
export const prepareTopics = (brokers: readonly string[], replicationFactor = 1) =>
  createTopics(brokers, topics(FEW_PARTITIONS), { prefix: process.env.KAFKA_PREFIX ?? '', replicationFactor })

async function withPorts(name: ServiceName, count: number) {
  const places = await Promise.all(
    Array.from({ length: count }, async () => ({ port: await freePort(), opsPort: await freePort() })),
  )
  return { name, port: await freePort(), places }
}
