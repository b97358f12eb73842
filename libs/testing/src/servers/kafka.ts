import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
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

/** Starts Apache Kafka on 127.0.0.1 as a KRaft cluster of one, with its data in `directory`. */
export async function startKafka(options: KafkaOptions) {
  const directory = resolve(options.directory)
  const log = join(directory, 'kafka.log')
  const { kafkaClasspath } = await resolveJavaPrograms(options.onProgress)
  const port = await freePort()
  mkdirSync(directory, { recursive: true })
  const properties = join(directory, 'server.properties')
  const ports = { clients: port, broker: await freePort(), controller: await freePort() }
  writeFileSync(properties, serverProperties(directory, ports, options.clients))
  const classpath = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', kafkaClasspath]
  const run = (program: string, args: readonly string[]) =>
    javaProgram('Kafka', log, 512, [...classpath, program, ...args])
  if (!existsSync(join(directory, 'data', 'meta.properties'))) {
    options.onProgress?.('formatting its storage')
    const format = ['format', '--standalone', '--ignore-formatted', '-t', clusterId(), '-c', properties]
    const { formatArguments = [] } = options.clients ?? {}
    const tool = run('kafka.tools.StorageTool', [...format, ...formatArguments])
    await runToEnd(tool, `Kafka could not format ${directory}`)
  }
  const managed = await startManagedProcess({
    command: run('kafka.Kafka', [properties]),
    isReady: () => isListening(port),
    onDeath: options.onDeath,
  })
  return Object.assign(managed, { brokers: [`127.0.0.1:${port}`] })
}

/** Sixteen random bytes in base64url. It starts with a letter, since the tool takes a leading dash for an option. */
const clusterId = () => `A${randomBytes(16).toString('base64url').slice(1)}`

function serverProperties(
  directory: string,
  ports: Readonly<Record<'clients' | 'broker' | 'controller', number>>,
  clients: KafkaOptions['clients'],
): string {
  const listeners = Object.entries(ports).map(([name, port]) => `${name.toUpperCase()}://127.0.0.1:${port}`)
  return propertiesText({
    'process.roles': 'broker,controller',
    'node.id': 1,
    listeners: listeners.join(),
    'advertised.listeners': listeners.join(),
    'listener.security.protocol.map': `CLIENTS:${clients?.protocol ?? 'PLAINTEXT'},BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    ...clients?.properties,
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${ports.controller}`,
    // After kill -9 the broker can register again only when its former session has expired (9 s by default).
    'broker.session.timeout.ms': 3000,
    'broker.heartbeat.interval.ms': 500,
    'log.dirs': join(directory, 'data'),
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
  })
}
