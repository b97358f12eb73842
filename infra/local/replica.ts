import type { ServiceName } from '@backoffice/contracts/services.ts'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { stackSecrets } from './secrets.ts'
import { startService } from './services.ts'
import type { StackDescription } from './stack-file.ts'

/** A further process of a service. */
export interface Replica {
  readonly process: ManagedProcess
  readonly url: string
  /** The URL of its metrics and probes. */
  readonly operations: string
}

/**
 * Starts a further process of a service of the running stack in a folder, with its configuration and these settings.
 * Nothing starts it again after a kill.
 */
export async function startReplica(
  name: ServiceName,
  directory: string,
  { postgres, kafka, registry, services }: StackDescription,
  settings: NodeJS.ProcessEnv = {},
): Promise<Replica> {
  const [port, opsPort] = [await freePort(), await freePort()]
  const urls = Object.fromEntries(Object.entries(services).map(([service, { url }]) => [service, url]))
  const process = await startService(name, {
    port,
    opsPort,
    stack: { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls },
    settings,
    onLine: () => undefined,
    onDeath: () => undefined,
  })
  return { process, url: `http://127.0.0.1:${port}`, operations: `http://127.0.0.1:${opsPort}` }
}
