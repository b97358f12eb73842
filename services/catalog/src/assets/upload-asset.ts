import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { named } from '@backoffice/contracts/named.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { storedUploads, type Uploading } from '@backoffice/storage/stored-uploads.ts'
import { z } from 'zod'
import type { NormalizeImage } from './image-work.ts'
import { insertAsset, pathsOf, receiveAsset, type StoredAsset, storeAsset } from './store-asset.ts'

const Asset = named(
  'Asset',
  z.strictObject({
    id: Id,
    url: z.url(),
    thumbnail: z.url().nullable(),
    type: z.string(),
    size: z.int(),
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000007',
    url: 'https://files.example.com/assets/0198c7a0-0000-7000-8000-000000000008/0198c7a0-0000-7000-8000-000000000007/file.png',
    thumbnail:
      'https://files.example.com/assets/0198c7a0-0000-7000-8000-000000000008/0198c7a0-0000-7000-8000-000000000007/thumbnail.png',
    type: 'image/png',
    size: 48213,
  },
)
export type Asset = z.output<typeof Asset>

/** Of files of up to 20 MiB on the disk. Each waits 30 s at most, with the wait for an image process. */
export const UPLOADS = { slots: 64, share: 4, most: 16 }

export type AssetUploading = Uploading & { readonly normalizeImage: NormalizeImage }

/** POST /v1/assets (extension of OP-18). */
export function uploadAsset({ normalizeImage, ...uploading }: AssetUploading): AnyOperation {
  const take = storedUploads(uploading, UPLOADS)
  return operation({
    operationId: 'uploadAsset',
    method: 'POST',
    path: '/v1/assets',
    summary: 'Upload an image or another file',
    scope: 'product::create',
    upload: { member: 'file', maxBytes: LIMITS.assetBytes, example: 'Wash at 30 degrees.' },
    responses: { 201: Asset },
    openPoints: ['OP-07', 'OP-08', 'OP-18', 'OP-21', 'OP-90', 'OP-164', 'OP-190'],
    extension: true,

    handle: (input) =>
      take(input, async (folder) => {
        const { workspaceId } = input.context
        const normalize = normalizeImage.bind(undefined, workspaceId)
        const asset = await storeAsset(uploading, workspaceId, await receiveAsset(input.file, folder, normalize))
        return {
          paths: pathsOf(asset),
          async insert(tx) {
            await insertAsset(tx, asset, input.now)
            return created(assetBody(asset))
          },
        }
      }),
  })
}

const assetBody = ({ id, path, thumbnailPath, type, size }: StoredAsset): Asset => ({
  id,
  url: assetUrl(path),
  thumbnail: thumbnailPath === null ? null : assetUrl(thumbnailPath),
  type,
  size,
})
