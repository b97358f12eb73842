import type { ServiceName } from '@backoffice/contracts/services.ts'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { type StackEnvironment, settingsOf } from '@backoffice/local/service-settings.ts'
import { runningStack, stackDirectory } from './connection.ts'

/** The addresses of a running stack, for commands that read a service's database or topics directly. */
export function stackServices(environment: NodeJS.ProcessEnv) {
  const { postgres, kafka, registry } = runningStack(environment)
  const directory = stackDirectory(environment)
  const stack: StackEnvironment = { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls: {} }
  return {
    brokers: kafka,
    /** Connects as the worker role of a service. */
    workerUrl: (name: ServiceName): string => settingsOf(name, stack).WORKER_DATABASE_URL ?? '',
  }
}
