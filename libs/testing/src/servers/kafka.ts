import { randomBytes, randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runToEnd } from '../processes/child.ts'
import { type ProgramOptions, startManagedProcess } from '../processes/managed-process.ts'
import { freePort, isListening } from '../processes/ports.ts'
import { javaProgram, propertiesText } from './java.ts'
import { resolveJavaPrograms } from './maven.ts'

interface KafkaOptions extends ProgramOptions {
  /** How the listener of clients is secured; without TLS and login unless given. */
  readonly clients?: {
    /** `SSL`, `SASL_SSL` or `SASL_PLAINTEXT`. */
    readonly protocol: string
    /** Settings of the server whose names begin with `listener.name.clients.`. */
    readonly properties: Readonly<Record<string, string>>
    /** Further arguments of `kafka-storage format`, such as the users of SCRAM. */
    readonly formatArguments: readonly string[]
  }
}

/** A server of a cluster: broker and controller at once. */
interface KafkaNode {
  readonly id: number
  readonly directory: string
  readonly ports: Readonly<Record<'clients' | 'broker' | 'controller', number>>
}

/** Starts Apache Kafka on 127.0.0.1 as a KRaft cluster of one, with its data in `directory`. */
export async function startKafka(options: KafkaOptions) {
  const directory = resolve(options.directory)
  const node = await newNode(1, directory)
  // Written down like this, a server takes the data of an earlier one with other ports.
  const quorum = { 'controller.quorum.bootstrap.servers': `127.0.0.1:${node.ports.controller}` }
  const managed = await startNode(node, { ...quorum, ...copies(1) }, clusterId(), options)
  return Object.assign(managed, { brokers: [`127.0.0.1:${node.ports.clients}`] })
}

/**
 * Starts a cluster of three servers on 127.0.0.1, each with its data in a folder of `directory`. `log` is the file with
 * what a server says about the controllers.
 */
export async function startKafkaCluster(options: KafkaOptions) {
  const directory = resolve(options.directory)
  const nodes = await Promise.all([1, 2, 3].map((id) => newNode(id, join(directory, String(id)))))
  const voters = nodes.map(({ id, ports }) => `${id}@127.0.0.1:${ports.controller}`)
  const settings = { 'controller.quorum.voters': voters.join(), ...copies(3) }
  const id = clusterId()
  const start = async (node: KafkaNode) =>
    Object.assign(await startNode(node, settings, id, options), { log: logOf(node) })
  return {
    servers: await Promise.all(nodes.map(start)),
    brokers: nodes.map(({ ports }) => `127.0.0.1:${ports.clients}`),
  }
}

async function newNode(id: number, directory: string): Promise<KafkaNode> {
  return {
    id,
    directory,
    ports: { clients: await freePort(), broker: await freePort(), controller: await freePort() },
  }
}

const logOf = ({ directory }: KafkaNode) => join(directory, 'kafka.log')

async function startNode(
  node: KafkaNode,
  settings: Readonly<Record<string, string | number>>,
  clusterId: string,
  options: KafkaOptions,
) {
  const { directory, ports } = node
  const { kafkaClasspath, formatted } = await resolveJavaPrograms(options.onProgress)
  mkdirSync(directory, { recursive: true })
  const properties = join(directory, 'server.properties')
  writeFileSync(properties, serverProperties(node, settings, options.clients))
  const logging = ['defaultLogLevel=warn', 'log.org.apache.kafka.controller.QuorumController=info']
  const classpath = [...logging.map((one) => `-Dorg.slf4j.simpleLogger.${one}`), '-cp', kafkaClasspath]
  const run = (program: string, args: readonly string[]) =>
    javaProgram('Kafka', logOf(node), 512, [...classpath, program, ...args])
  const data = join(directory, 'data')
  if (!existsSync(join(data, 'meta.properties'))) {
    const isAlone = !('controller.quorum.voters' in settings)
    const { formatArguments = [] } = options.clients ?? {}
    const isUsual = isAlone && formatArguments.length === 0
    if (isUsual && existsSync(formatted)) cpSync(formatted, data, { recursive: true })
    else {
      options.onProgress?.('formatting its storage')
      const format = ['format', ...(isAlone ? ['--standalone'] : []), '--ignore-formatted']
      const tool = run('kafka.tools.StorageTool', [...format, '-t', clusterId, '-c', properties, ...formatArguments])
      await runToEnd(tool, `Kafka could not format ${directory}`)
      if (isUsual) keepFormatted(data, formatted)
    }
  }
  return startManagedProcess({
    command: run('kafka.Kafka', [properties]),
    isReady: () => isListening(ports.clients),
    onDeath: options.onDeath,
  })
}

/** Keeps formatted storage for later servers, which take that of others: formatting starts a Java program. */
function keepFormatted(data: string, formatted: string): void {
  const unfinished = `${formatted}.${randomUUID()}`
  cpSync(data, unfinished, { recursive: true })
  try {
    renameSync(unfinished, formatted)
  } catch {
    // Another process was first.
    rmSync(unfinished, { recursive: true })
  }
}

/** Sixteen random bytes in base64url. It starts with a letter, since the tool takes a leading dash for an option. */
const clusterId = () => `A${randomBytes(16).toString('base64url').slice(1)}`

/** How many servers have each record of Kafka's own topics. */
const copies = (count: number) => ({
  'default.replication.factor': count,
  'offsets.topic.replication.factor': count,
  'transaction.state.log.replication.factor': count,
  'transaction.state.log.min.isr': Math.max(1, count - 1),
  'min.insync.replicas': Math.max(1, count - 1),
})

function serverProperties(
  { id, directory, ports }: KafkaNode,
  settings: Readonly<Record<string, string | number>>,
  clients: KafkaOptions['clients'],
): string {
  const listeners = Object.entries(ports).map(([name, port]) => `${name.toUpperCase()}://127.0.0.1:${port}`)
  return propertiesText({
    'process.roles': 'broker,controller',
    'node.id': id,
    listeners: listeners.join(),
    'advertised.listeners': listeners.join(),
    'listener.security.protocol.map': `CLIENTS:${clients?.protocol ?? 'PLAINTEXT'},BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    ...clients?.properties,
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    // After kill -9 the broker can register again only when its former session has expired (9 s by default).
    'broker.session.timeout.ms': 3000,
    'broker.heartbeat.interval.ms': 1000,
    // For few cores: threads without work wake up several times a second, and so does an idle controller.
    'metadata.max.idle.interval.ms': 5000,
    'num.io.threads': 3,
    'num.network.threads': 2,
    'group.coordinator.threads': 1,
    'log.dirs': join(directory, 'data'),
    'auto.create.topics.enable': false,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
    ...settings,
  })
}
