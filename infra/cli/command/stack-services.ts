import { type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { type StackEnvironment, settingsOf } from '@backoffice/local/service-settings.ts'
import {
  KAFKA,
  type KafkaServers,
  kafkaServers,
  refuseIncompleteKafka,
} from '@backoffice/messaging/kafka/kafka-settings.ts'
import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { WORKER_DATABASE } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import { z } from 'zod'
import { CommandError } from './command-error.ts'
import { runningStack, stackDirectory } from './connection.ts'

/** For the help of commands that work on databases or Kafka themselves. */
export const WITHOUT_A_STACK =
  'Without a local stack: with <SERVICE>_WORKER_DATABASE_URL, and KAFKA_… and DATABASE_CA as services have them'

const Kafka = z.object(KAFKA).superRefine(refuseIncompleteKafka)

/** The setting with the URL of a service's worker role. */
const workerSetting = (name: ServiceName): string => `${schemaOf(name).toUpperCase()}_WORKER_DATABASE_URL`

/**
 * Kafka and the databases of services, for commands that work on them directly. The settings are those of the services,
 * except `<SERVICE>_WORKER_DATABASE_URL` for WORKER_DATABASE_URL. An address that is not set comes from the running
 * local stack. Both functions throw ConfigurationError for a wrong setting, and CommandError for a missing one while no
 * stack runs.
 */
export function stackServices(environment: NodeJS.ProcessEnv) {
  const ofStack = (missing: string): StackEnvironment => {
    const { postgres, kafka, registry } = runningStack(environment, `set ${missing}`)
    const directory = stackDirectory(environment)
    return { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls: {} }
  }
  return {
    kafka(): KafkaServers {
      const KAFKA_BROKERS = environment.KAFKA_BROKERS || ofStack('KAFKA_BROKERS').kafka.join(',')
      return kafkaServers(readConfig(Kafka, { ...environment, KAFKA_BROKERS }))
    },
    /** Connects as the worker role of a service. */
    workerServer(name: ServiceName): DatabaseServer {
      const setting = workerSetting(name)
      const isSet = environment[setting] || environment[`${setting}_FILE`]
      const address = isSet ? {} : { [setting]: settingsOf(name, ofStack(setting)).WORKER_DATABASE_URL }
      const { WORKER_DATABASE_URL, DATABASE_CA } = WORKER_DATABASE
      const config = readConfig(z.object({ [setting]: WORKER_DATABASE_URL, DATABASE_CA }), {
        ...environment,
        ...address,
      })
      return { url: config[setting] as string, ca: config.DATABASE_CA }
    },
  }
}

/** Runs `work` on a connection as a service's worker role. Throws an error that names a missing setting. */
export async function asWorker<Result>(
  name: ServiceName,
  environment: NodeJS.ProcessEnv,
  work: (sql: Sql) => PromiseLike<Result>,
): Promise<Result> {
  const server = stackServices(environment).workerServer(name)
  const setting = workerSetting(name)
  await refuseWrongDatabase(server, setting).catch((error: Error) => {
    throw error instanceof ConfigurationError
      ? error
      : new CommandError(`no connection to the server of ${setting}: ${error.message}`)
  })
  const db = openDatabase({ ...server, applicationName: 'backoffice', poolSize: 1 })
  try {
    return await work(db.sql)
  } finally {
    await db.stop?.()
  }
}
