import type { ServiceName } from '@backoffice/contracts/services.ts'
import * as local from '@backoffice/local/replica.ts'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { TestStack } from './stack.ts'

/** Starts a second process of a service with the stack's configuration. Nothing restarts it after a kill. */
export async function startReplica(stack: TestStack, name: ServiceName): Promise<ManagedProcess> {
  const { process } = await local.startReplica(name, stack.directory, stack.description())
  whenDone(() => process.stop())
  return process
}
