import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'

/** For a worker that calls catalog in a workspace. */
export const contextOfWorker = (
  name: string,
  { workspaceId, livemode }: Pick<WorkspaceContext, 'workspaceId' | 'livemode'>,
): RequestContext => ({
  workspaceId,
  livemode,
  keyId: name,
  actor: name,
  scopes: [],
  productStatuses: [],
  requestId: newId(),
  traceparent: traceparentFrom(undefined),
})
