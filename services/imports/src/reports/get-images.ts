import { ImportImages } from '@backoffice/contracts/imports.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { findImport } from '../imports/import-row.ts'
import type { OwnerClient } from '../imports/owner-client.ts'

/** GET /v1/imports/{id}/images (extension, OP-282): what became of the images that a file names by URL. */
export const getImages = (db: Database, owners: Pick<OwnerClient, 'images'>): AnyOperation =>
  operation({
    operationId: 'getImportImages',
    method: 'GET',
    path: '/v1/imports/{id}/images',
    summary: 'Count the images of an import that wait, were added and failed',
    scope: 'import::read',
    responses: { 200: ImportImages },
    openPoints: ['OP-281', 'OP-282'],
    extension: true,

    async handle({ params: { id }, context }) {
      const { template } = await db.inWorkspace(context, (tx) => findImport(tx, id))
      if (template === 'products') return ok(await owners.images({ ...context, id, template }))
      return ok({ import_id: id, waiting: 0, added: 0, failed: 0, failures: [] })
    },
  })
