import { Id, Name } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { WorkspaceHead } from './workspace.ts'

/** A live workspace and its sandbox, or null (architecture: Admin API). */
export const Workspace = WorkspaceHead.extend({
  livemode: z.literal(true),
  sandbox: z.strictObject({ id: Id, livemode: z.literal(false) }).nullable(),
  status: z.enum(['ACTIVE', 'SUSPENDED']),
})

/** POST /admin/v1/workspaces (OP-86). A sandbox is a workspace of its own, with its own keys and settings. */
export const createWorkspace = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces',
  summary: 'Create a workspace, with a sandbox if asked for',
  body: z.strictObject({
    name: Name,
    domain: z.hostname().max(253).nullish(),
    sandbox: z.boolean().default(false),
  }),
  responses: { 201: Workspace },

  async handle({ body, now, act }) {
    const { name, domain = null } = body
    const id = uuidv7()
    const sandbox = body.sandbox ? { id: uuidv7(), livemode: false as const } : null
    const live = { id, parent: id, name, domain, created_at: now }
    const rows = sandbox ? [live, { ...live, id: sandbox.id }] : [live]
    await act(id, [{ action: 'workspace.created', target: `workspaces/${id}` }], async (tx) => {
      await tx`insert into workspace ${tx(rows)}`
    })
    return created({ id, name, domain, livemode: true, sandbox, status: 'ACTIVE' })
  },
})
