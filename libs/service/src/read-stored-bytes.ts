import { StoredBytes } from '@backoffice/contracts/usage.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'

/** GET /internal/stored-bytes: how many bytes the workspace's files have in a service that stores some (OP-272). */
export const readStoredBytes = operation({
  method: 'GET',
  path: '/internal/stored-bytes',
  scope: 'internal',
  responses: { 200: StoredBytes },

  handle: ({ inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [stored] = await tx`select bytes from stored_bytes where workspace_id = ${tx.context.workspaceId}`
      return ok(stored ?? { bytes: 0 })
    }),
})
