import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

const StoredAsset = z.strictObject({ id: Id, path: z.string(), thumbnail_path: z.string().nullable() })

/** GET /internal/assets/{id}: the path of a stored file, for services that show files in their resources. */
export const readAsset = operation({
  method: 'GET',
  path: '/internal/assets/{id}',
  scope: 'internal',
  responses: { 200: StoredAsset },

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [asset] = await tx<z.output<typeof StoredAsset>[]>`
        select id, path, thumbnail_path from asset where workspace_id = ${tx.context.workspaceId} and id = ${params.id}`
      if (asset === undefined) throw notFound(['id'], `this workspace has no file ${params.id}`)
      return ok(asset)
    }),
})
