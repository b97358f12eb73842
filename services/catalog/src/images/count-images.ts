import {
  FAILED_IMAGES_SHOWN,
  type ImportImages as Images,
  ImportImages,
  ImportImagesQuestion,
} from '@backoffice/contracts/imports.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'

/** POST /internal/imports/images: what became of the images that an import gave products (OP-281). */
export const countImages = operation({
  method: 'POST',
  path: '/internal/imports/images',
  scope: 'internal',
  body: ImportImagesQuestion,
  responses: { 200: ImportImages },

  handle: ({ body: { import_id: id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const isOfImport = tx`workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
      const isFailed = tx`next_attempt_at is null and asset_id is null`
      const [[counts], failures] = await Promise.all([
        tx<[Pick<Images, 'waiting' | 'added' | 'failed'>]>`
          select
            count(*) filter (where next_attempt_at is not null) as waiting,
            count(asset_id) as added, count(*) filter (where ${isFailed}) as failed
          from product_image where ${isOfImport}`,
        tx<Images['failures']>`
          select product_id as product, url, failure as reason from product_image
          where ${isOfImport} and ${isFailed} order by id limit ${FAILED_IMAGES_SHOWN}`,
      ])
      return ok({ import_id: id, ...counts, failures })
    }),
})
