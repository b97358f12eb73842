import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers'
import { freePort } from '../processes/ports.ts'
import type { BackingService, BackingServices } from './backing-services.ts'

const DOCKER_ANSWERS_WITHIN_MS = 3_000

/** Whether a Docker daemon answers. */
export async function isDockerThere(): Promise<boolean> {
  const late = new Promise<false>((resolve) => setTimeout(resolve, DOCKER_ANSWERS_WITHIN_MS, false).unref())
  const answers = getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
  return Promise.race([answers, late])
}

/** Starts the backing services as containers, and with `others` where one does not start (no image). */
export function containersOr(others: BackingServices): BackingServices {
  return {
    postgres: () => containers.postgres().catch(() => others.postgres()),
    kafka: () => containers.kafka().catch(() => others.kafka()),
    registry: () => containers.registry().catch(() => others.registry()),
  }
}

/** In the versions that run embedded. testcontainers removes them when this process has ended. */
const containers: BackingServices = {
  async postgres() {
    const container = await new GenericContainer('postgres:18.4')
      .withEnvironment({ POSTGRES_PASSWORD: 'postgres' })
      .withCommand(['postgres', '-c', 'max_connections=300'])
      .withExposedPorts(5432)
      // The server says it twice: the first time before it restarts with its network on.
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start()
    return running(container, `postgres://postgres:postgres@${hostAndPort(container, 5432)}/postgres`)
  },

  async kafka() {
    // The broker sends its address to clients, so the port of the host has to be known before the start.
    const port = await freePort()
    const { info } = await getContainerRuntimeClient()
    const address = `${info.containerRuntime.host}:${port}`
    const container = await new GenericContainer('apache/kafka:4.1.1')
      .withEnvironment(kafkaEnvironment(address, port))
      .withExposedPorts({ container: port, host: port })
      .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
      .start()
    return running(container, [address])
  },

  async registry() {
    const container = await new GenericContainer('apicurio/apicurio-registry:3.0.9')
      .withExposedPorts(8080)
      .withWaitStrategy(Wait.forHttp('/apis/ccompat/v7/subjects', 8080))
      .start()
    return running(container, `http://${hostAndPort(container, 8080)}/apis/ccompat/v7`)
  },
}

const running = <Address>(container: StartedTestContainer, address: Address): BackingService<Address> => ({
  address,
  stop: () => container.stop(),
})

const hostAndPort = (container: StartedTestContainer, port: number) =>
  `${container.getHost()}:${container.getMappedPort(port)}`

function kafkaEnvironment(address: string, port: number): Record<string, string> {
  return {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_LISTENERS: `BROKER://0.0.0.0:${port},CONTROLLER://0.0.0.0:9093`,
    KAFKA_ADVERTISED_LISTENERS: `BROKER://${address}`,
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    KAFKA_INTER_BROKER_LISTENER_NAME: 'BROKER',
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
  }
}
