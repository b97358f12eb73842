import { join } from 'node:path'
import { badRequest } from '@backoffice/contracts/errors.ts'
import type { UploadedFile } from '@backoffice/http/upload.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { discardFiles } from '@backoffice/storage/discard-files.ts'
import { receive } from '@backoffice/storage/incoming-files.ts'
import type { Uploading } from '@backoffice/storage/stored-uploads.ts'
import { extensionOf, isImage } from './asset-types.ts'
import { detectType, HEAD_BYTES } from './detect-type.ts'
import type { ImageFiles } from './image-work.ts'

/** A file that may be stored as an asset; an image has a thumbnail. */
interface AcceptedFile {
  readonly type: string
  readonly file: string
  readonly thumbnail?: string
}

/** Receives a file into a folder; an image is normalized beside it, with its thumbnail. */
export async function receiveAsset(
  upload: Pick<UploadedFile, 'content' | 'name' | 'declaredType'>,
  folder: string,
  normalize: (type: string, files: ImageFiles) => Promise<void>,
): Promise<AcceptedFile> {
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

/**
 * Stores an asset's files, both or none as far as the storage can be reached. Paths are made of ids that cannot be
 * guessed, and of nothing that the client sent.
 */
export async function storeAsset(
  { storage, logger }: Pick<Uploading, 'storage' | 'logger'>,
  workspaceId: string,
  { type, file, thumbnail }: AcceptedFile,
) {
  const id = newId()
  const pathOf = (name: string) => `${workspaceId}/${id}/${name}.${extensionOf(type)}`
  const path = pathOf('file')
  const size = await storage.put(path, file, type)
  if (thumbnail === undefined) return { id, type, path, size, thumbnailPath: null, thumbnailSize: null }
  const thumbnailPath = pathOf('thumbnail')
  const thumbnailSize = await storage.put(thumbnailPath, thumbnail, type).catch(async (error: unknown) => {
    await discardFiles({ storage, logger }, [path, thumbnailPath])
    throw error
  })
  return { id, type, path, size, thumbnailPath, thumbnailSize }
}
export type StoredAsset = Awaited<ReturnType<typeof storeAsset>>

/** The paths of an asset's files. */
export const pathsOf = ({ path, thumbnailPath }: StoredAsset): string[] =>
  [path, thumbnailPath].filter((each) => each !== null)

export const insertAsset = (tx: Transaction, asset: StoredAsset, now: Date) => tx`
  insert into asset (workspace_id, id, path, thumbnail_path, type, size, thumbnail_size, created_at)
  values (
    ${tx.context.workspaceId}, ${asset.id}, ${asset.path}, ${asset.thumbnailPath}, ${asset.type}, ${asset.size},
    ${asset.thumbnailSize}, ${now}
  )`
