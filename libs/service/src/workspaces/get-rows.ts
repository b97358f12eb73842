import { notFound } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { WorkspaceHooks } from './workspace-hooks.ts'
import { COUNTED_AT_MOST, rowsOf } from './workspace-tables.ts'

/** What a service has of a workspace: rows by table that has any, and files, each up to ten thousand. */
export const WorkspaceRows = z.strictObject({ rows: z.record(z.string(), z.int()), files: z.int() })

/** GET /internal/workspaces/{id}/rows: what a service still has of a workspace (decision 025). */
export const getRows = (db: Database, hooks: WorkspaceHooks) =>
  operation({
    method: 'GET',
    path: '/internal/workspaces/{id}/rows',
    scope: 'internal',
    responses: { 200: WorkspaceRows },

    async handle({ params, context }) {
      if (params.id !== context.workspaceId) throw notFound([], `The token is not for workspace ${params.id}`)
      const rows = await db.inWorkspace(context, (tx) => rowsOf(tx, hooks))
      return new Reply(200, { rows, files: (await hooks.files?.countFiles(params.id, COUNTED_AT_MOST)) ?? 0 })
    },
  })
