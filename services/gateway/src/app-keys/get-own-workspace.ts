import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { unknownWorkspace } from '../admin/workspaces/workspace.ts'

const OwnWorkspace = z.strictObject({ name: z.string(), domain: z.string().nullable(), live_workspace: Id })

/**
 * GET /internal/workspace: the name and the domain that tokens for apps have (OP-83), and the live workspace, which a
 * sandbox belongs to. Throws `not_found`.
 */
export const getOwnWorkspace = operation({
  method: 'GET',
  path: '/internal/workspace',
  scope: 'internal',
  responses: { 200: OwnWorkspace },

  handle: ({ context: { workspaceId }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [row] = await tx<z.output<typeof OwnWorkspace>[]>`
        select name, domain, parent as live_workspace from workspace where id = ${workspaceId} and deleted_at is null`
      if (row === undefined) throw unknownWorkspace(workspaceId)
      return ok(row)
    }),
})
