import type { ServiceName } from '@backoffice/contracts/services.ts'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { startService } from '@backoffice/local/services.ts'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { TestStack } from './stack.ts'

/** Starts a second process of a service with the stack's configuration. Nothing restarts it after a kill. */
export async function startReplica(stack: TestStack, name: ServiceName): Promise<ManagedProcess> {
  const { postgres, kafka, registry, services } = stack.description()
  const { directory } = stack
  const urls = Object.fromEntries(Object.entries(services).map(([service, { url }]) => [service, url]))
  const replica = await startService(name, {
    port: await freePort(),
    opsPort: await freePort(),
    stack: { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls },
    onLine: () => undefined,
    onDeath: () => undefined,
  })
  whenDone(() => replica.stop())
  return replica
}
