import { Readable } from 'node:stream'
import { ApiError, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { failureOf } from '@backoffice/outbound/failure.ts'
import { get } from '@backoffice/outbound/get.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { newFolder } from '@backoffice/storage/incoming-files.ts'
import type { Dispatcher } from 'undici'
import { isImage } from '../assets/asset-types.ts'
import { receiveAsset, type StoredAsset, storeAsset } from '../assets/store-asset.ts'
import type { AssetUploading } from '../assets/upload-asset.ts'

/** What fetching an image needs. */
export interface ImageFetching extends Pick<AssetUploading, 'storage' | 'logger' | 'normalizeImage'> {
  readonly agent: Dispatcher
  readonly policy: TargetPolicy
}

/** For the whole image, all redirects together. */
const WITHIN_MS = 30_000
const HEADERS = { accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif', 'user-agent': 'Backoffice-Images/1' }
/** The statuses below 500 that may pass. */
const PASSING = new Set([408, 425, 429])

/** Why an image cannot be fetched, and whether that may pass. */
class ImageFailure extends Error {
  readonly mayPass: boolean

  constructor(reason: string, mayPass: boolean, options?: ErrorOptions) {
    super(reason, options)
    this.mayPass = mayPass
  }
}

/** Fetches an image and stores its files. Throws what `whyNot` explains. */
export async function fetchImage(
  { agent, policy, storage, logger, normalizeImage }: ImageFetching,
  { workspaceId, url }: { readonly workspaceId: string; readonly url: string },
  stopping: AbortSignal,
): Promise<StoredAsset> {
  const inTime = AbortSignal.timeout(WITHIN_MS)
  const asFailure = (cause: Error): never => {
    if (inTime.aborted) throw new ImageFailure(`was not there within ${WITHIN_MS / 1000} s`, true, { cause })
    const { class: failureClass, message } = failureOf(cause)
    throw new ImageFailure(message, failureClass !== 'blocked' && failureClass !== 'status', { cause })
  }
  const signal = AbortSignal.any([stopping, inTime])
  const { statusCode, headers, body } = await get(agent, url, { policy, headers: HEADERS, signal }).catch(asFailure)
  try {
    if (statusCode < 200 || statusCode > 299) {
      throw new ImageFailure(`answered ${statusCode}`, statusCode >= 500 || PASSING.has(statusCode))
    }
    if (Number(headers['content-length']) > LIMITS.assetBytes) throw tooLarge()
    await using folder = await newFolder(storage.incoming)
    const content = Readable.from(limited(body, asFailure))
    const upload = { content, name: '', declaredType: '' }
    const received = await receiveAsset(upload, folder.path, (...image) => normalizeImage(workspaceId, ...image))
    if (!isImage(received.type))
      throw new ImageFailure('is no image; images must be JPEG, PNG, WebP, GIF or AVIF', false)
    return await storeAsset({ storage, logger }, workspaceId, received)
  } finally {
    body.on('error', () => undefined).destroy()
  }
}

async function* limited(body: AsyncIterable<Buffer>, asFailure: (cause: Error) => never) {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > LIMITS.assetBytes) break
      yield chunk
    }
  } catch (error) {
    asFailure(error as Error)
  }
  if (bytes > LIMITS.assetBytes) throw tooLarge()
}

const tooLarge = () => new ImageFailure(`is larger than ${LIMITS.assetBytes / 1024 / 1024} MiB`, false)

const FINAL: readonly ErrorCode[] = ['bad_request', 'unprocessable']

/** Why an image was not added, for the workspace's users, and whether that may pass. */
export function whyNot(error: unknown) {
  if (error instanceof ImageFailure) return { reason: error.message, mayPass: error.mayPass, isExpected: true }
  if (error instanceof ApiError) return { reason: error.reason, mayPass: !FINAL.includes(error.code), isExpected: true }
  return { reason: 'could not be taken; import the file again', mayPass: true, isExpected: false }
}
