import { notFound } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { WorkspaceHooks } from './workspace-hooks.ts'
import { COUNTED_AT_MOST, countRows, readByIndexes, workspaceTables } from './workspace-tables.ts'

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

/** The number of rows of the transaction's workspace, by table. */
export async function rowsOf(tx: Transaction, { keptTables }: WorkspaceHooks): Promise<Record<string, number>> {
  await readByIndexes(tx)
  const rows = await countRows(tx, await workspaceTables(tx, keptTables))
  return Object.fromEntries(Object.entries(rows).filter(([, count]) => count > 0))
}
