import type { Part } from '@backoffice/local/part.ts'
import { freePort } from '@backoffice/local/ports.ts'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { services, startService } from '@backoffice/local/services.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { TestStack } from './stack.ts'

/** A process of webhook-delivery beside the stack's own, told the same; it is not started again when it is killed. */
export async function startReplica(stack: TestStack): Promise<Part> {
  const service = services.find(({ name }) => name === 'webhook-delivery')
  if (service === undefined) throw new Error('the stack runs no webhook-delivery')
  const { postgres, kafka, registry } = stack.description()
  const { directory } = stack
  const part = await startService(service, {
    port: await freePort(),
    opsPort: await freePort(),
    stack: { directory, postgres, kafka, registry, secrets: stackSecrets(directory), urls: {} },
    onLine: () => undefined,
    onDeath: () => undefined,
  })
  whenDone(() => part.stop())
  return part
}
