import { type ServiceName, workerSetting } from '@backoffice/contracts/services.ts'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { type StackEnvironment, settingsOf } from '@backoffice/local/service-settings.ts'
import {
  KAFKA,
  type KafkaServers,
  kafkaServers,
  refuseIncompleteKafka,
} from '@backoffice/messaging/kafka/kafka-settings.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { WORKER_DATABASE } from '@backoffice/postgres/database-settings.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'
import { runningStack, stackDirectory } from './connection.ts'

/** For the help of commands that work on databases or Kafka themselves. */
export const WITHOUT_A_STACK =
  'Without a local stack: with <SERVICE>_WORKER_DATABASE_URL, and KAFKA_… and DATABASE_CA as services have them'

const Kafka = z.object(KAFKA).superRefine(refuseIncompleteKafka)

/*
 * The settings for checks, which work on Kafka and databases, are those of the services, except
 * `<SERVICE>_WORKER_DATABASE_URL` for WORKER_DATABASE_URL. An address that is not set comes from the running local
 * stack. The functions throw ConfigurationError for a wrong setting, and CommandError for a missing one while no stack
 * runs.
 */

/** The brokers of Kafka, and how to connect to them. */
export function kafkaOf(environment: NodeJS.ProcessEnv): KafkaServers {
  const KAFKA_BROKERS = environment.KAFKA_BROKERS || stackFor('KAFKA_BROKERS', environment).kafka.join(',')
  return kafkaServers(readConfig(Kafka, { ...environment, KAFKA_BROKERS }))
}

/** The server of a service's database, with the service's worker role. */
export function workerServer(name: ServiceName, environment: NodeJS.ProcessEnv): DatabaseServer {
  const setting = workerSetting(name)
  const isSet = environment[setting] || environment[`${setting}_FILE`]
  const address = isSet ? {} : { [setting]: settingsOf(name, stackFor(setting, environment)).WORKER_DATABASE_URL }
  const { WORKER_DATABASE_URL, DATABASE_CA } = WORKER_DATABASE
  const settings = z.object({ [setting]: WORKER_DATABASE_URL, DATABASE_CA })
  const config = readConfig(settings, { ...environment, ...address })
  return { url: config[setting] as string, ca: config.DATABASE_CA }
}

/** The running local stack, from which a missing setting comes. */
function stackFor(missing: string, environment: NodeJS.ProcessEnv): StackEnvironment {
  const { postgres, kafka, registry } = runningStack(environment, `set ${missing}`)
  const directory = stackDirectory(environment)
  return { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls: {} }
}
