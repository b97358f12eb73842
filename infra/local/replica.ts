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

/** Other settings of a process than those of the stack. */
interface Differences {
  readonly settings?: NodeJS.ProcessEnv
}

/**
 * Starts a further process of a service of the running stack in a folder, with its configuration but for these
 * differences. Nothing starts it again after a kill.
 */
export async function startReplica(
  name: ServiceName,
  directory: string,
  description: StackDescription,
  { settings = {} }: Differences = {},
): Promise<Replica> {
  const [port, opsPort] = [await freePort(), await freePort()]
  const process = await startService(name, {
    port,
    opsPort,
    stack: environmentOf(directory, description),
    settings,
    onLine: () => undefined,
    onDeath: () => undefined,
  })
  return { process, url: `http://127.0.0.1:${port}`, operations: `http://127.0.0.1:${opsPort}` }
}

/** What the settings of a stack's processes follow from. */
function environmentOf(directory: string, { postgres, kafka, registry, services }: StackDescription) {
  const urls = Object.fromEntries(Object.entries(services).map(([service, { url }]) => [service, url]))
  return { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls }
}
