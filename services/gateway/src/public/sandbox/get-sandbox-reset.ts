import { notFound } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { leftOf } from '../../admin/workspaces/get-deletion.ts'
import { findReset, SandboxResetStatus } from './sandbox-reset.ts'

/** GET /v1/sandbox/reset (extension; OP-287): the last reset, and whether every service has deleted what was there. */
export const getSandboxReset = ({
  worker,
  ...asking
}: Omit<Parameters<typeof leftOf>[1], 'now' | 'owner'> & { readonly worker: { readonly sql: Sql } }) =>
  operation({
    method: 'GET',
    path: '/v1/sandbox/reset',
    operationId: 'getSandboxReset',
    summary: 'Read whether the last reset of the sandbox is complete',
    scope: 'workspace::read',
    responses: { 200: SandboxResetStatus },
    refusals: ['not_found'],
    openPoints: ['OP-158', 'OP-287'],
    extension: true,

    async handle({ context, now }) {
      const reset = await findReset(worker.sql, context.workspaceId)
      if (reset === undefined) throw notFound([], 'the workspace was never reset')
      const { completed } = await leftOf([reset.former_workspace], { ...asking, now, owner: context.workspaceId })
      return ok({ ...reset, completed })
    },
  })
