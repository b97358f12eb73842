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
import { extensionOf, IMAGE_TYPES } from './asset-types.ts'
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
    upload: { member: 'file', maxBytes: LIMITS.assetBytes },
    responses: { 201: Asset },
    openPoints: ['OP-07', 'OP-08', 'OP-18', 'OP-21', 'OP-90', 'OP-164'],
    extension: true,

    handle: (input) =>
      take(input, async (folder) => {
        const { workspaceId } = input.context
        const normalize = normalizeImage.bind(undefined, workspaceId)
        const { type, ...files } = await acceptedFiles(input.file, folder, normalize)
        const asset = newAsset(workspaceId, type)
        const sizes = await store(uploading.storage, asset, files)
        return {
          paths: pathsOf(asset),
          async insert(tx) {
            await insertAsset(tx, asset, sizes, input.now)
            return created(assetBody(asset, sizes.size))
          },
        }
      }),
  })
}

const pathsOf = ({ path, thumbnailPath }: NewAsset): string[] =>
  thumbnailPath === null ? [path] : [path, thumbnailPath]

interface NewAsset {
  readonly id: string
  readonly type: string
  readonly path: string
  readonly thumbnailPath: string | null
}

/** Paths are made of ids that cannot be guessed, and of nothing that the client sent. */
function newAsset(workspaceId: string, type: string): NewAsset {
  const id = uuidv7()
  const folder = `${workspaceId}/${id}`
  const extension = extensionOf(type)
  const thumbnailPath = type in IMAGE_TYPES ? `${folder}/thumbnail.${extension}` : null
  return { id, type, path: `${folder}/file.${extension}`, thumbnailPath }
}

const assetBody = ({ id, path, thumbnailPath, type }: NewAsset, size: number): Asset => ({
  id,
  url: assetUrl(path),
  thumbnail: thumbnailPath === null ? null : assetUrl(thumbnailPath),
  type,
  size,
})

interface AcceptedFiles {
  readonly file: string
  readonly thumbnail?: string
}

/** Receives a file into a folder; an image is normalized beside it, with its thumbnail. */
async function acceptedFiles(
  upload: UploadedFile,
  folder: string,
  normalize: (type: string, files: ImageFiles) => Promise<void>,
): Promise<AcceptedFiles & { type: string }> {
  const source = join(folder, 'source')
  const { size, head } = await receive(upload.content, source, HEAD_BYTES)
  if (size === 0) throw badRequest(['file'], 'is empty')
  const type = await detectType(head, upload)
  if (!(type in IMAGE_TYPES)) return { type, file: source }
  const image = join(folder, 'image')
  const thumbnail = join(folder, 'thumbnail')
  await normalize(type, { source, image, thumbnail })
  return { type, file: image, thumbnail }
}

interface StoredSizes {
  readonly size: number
  readonly thumbnailSize: number | null
}

async function store(storage: FileStorage, asset: NewAsset, { file, thumbnail }: AcceptedFiles): Promise<StoredSizes> {
  const size = await storage.put(asset.path, file, asset.type)
  if (thumbnail === undefined || asset.thumbnailPath === null) return { size, thumbnailSize: null }
  return { size, thumbnailSize: await storage.put(asset.thumbnailPath, thumbnail, asset.type) }
}

const insertAsset = (tx: Transaction, asset: NewAsset, { size, thumbnailSize }: StoredSizes, now: Date) => tx`
  insert into asset (workspace_id, id, path, thumbnail_path, type, size, thumbnail_size, created_at)
  values (
    ${tx.context.workspaceId}, ${asset.id}, ${asset.path}, ${asset.thumbnailPath}, ${asset.type}, ${size}, ${thumbnailSize}, ${now}
  )`
