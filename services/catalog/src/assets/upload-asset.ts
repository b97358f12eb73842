import { join } from 'node:path'
import { badRequest } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { named } from '@backoffice/contracts/named.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { UploadedFile } from '@backoffice/http/upload.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { receive } from '@backoffice/storage/incoming-files.ts'
import { storedUploads, type Uploading } from '@backoffice/storage/stored-uploads.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { extensionOf, isImage } from './asset-types.ts'
import { detectType, HEAD_BYTES } from './detect-type.ts'
import { type ImageFiles, imageWork } from './image-work.ts'

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
const UPLOADS = { slots: 64, share: 4, most: 16 }

/** POST /v1/assets (extension of OP-18). */
export function uploadAsset({ logger, ...uploading }: Uploading & { readonly logger: Logger }): AnyOperation {
  const take = storedUploads(uploading, UPLOADS)
  const normalizeImage = imageWork(logger)
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
        const asset = await store(uploading.storage, workspaceId, await acceptedFiles(input.file, folder, normalize))
        return {
          paths: [asset.path, asset.thumbnailPath].filter((path) => path !== null),
          async insert(tx) {
            await insertAsset(tx, asset, input.now)
            return created(assetBody(asset))
          },
        }
      }),
  })
}

/** Receives a file into a folder; an image is normalized beside it, with its thumbnail. */
async function acceptedFiles(
  upload: UploadedFile,
  folder: string,
  normalize: (type: string, files: ImageFiles) => Promise<void>,
) {
  const source = join(folder, 'source')
  const { size, head } = await receive(upload.content, source, HEAD_BYTES)
  if (size === 0) throw badRequest(['file'], 'is empty')
  const type = await detectType(head, upload)
  if (!isImage(type)) return { type, file: source }
  const image = join(folder, 'image')
  const thumbnail = join(folder, 'thumbnail')
  await normalize(type, { source, image, thumbnail })
  return { type, file: image, thumbnail }
}

/** Stores an asset's files. Paths are made of ids that cannot be guessed, and of nothing that the client sent. */
async function store(
  storage: FileStorage,
  workspaceId: string,
  { type, file, thumbnail }: Awaited<ReturnType<typeof acceptedFiles>>,
) {
  const id = uuidv7()
  const pathOf = (name: string) => `${workspaceId}/${id}/${name}.${extensionOf(type)}`
  const path = pathOf('file')
  const size = await storage.put(path, file, type)
  if (thumbnail === undefined) return { id, type, path, size, thumbnailPath: null, thumbnailSize: null }
  const thumbnailPath = pathOf('thumbnail')
  return { id, type, path, size, thumbnailPath, thumbnailSize: await storage.put(thumbnailPath, thumbnail, type) }
}
type StoredAsset = Awaited<ReturnType<typeof store>>

const assetBody = ({ id, path, thumbnailPath, type, size }: StoredAsset): Asset => ({
  id,
  url: assetUrl(path),
  thumbnail: thumbnailPath === null ? null : assetUrl(thumbnailPath),
  type,
  size,
})

const insertAsset = (tx: Transaction, asset: StoredAsset, now: Date) => tx`
  insert into asset (workspace_id, id, path, thumbnail_path, type, size, thumbnail_size, created_at)
  values (
    ${tx.context.workspaceId}, ${asset.id}, ${asset.path}, ${asset.thumbnailPath}, ${asset.type}, ${asset.size},
    ${asset.thumbnailSize}, ${now}
  )`
