import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { z } from 'zod'

/** A cover image: an asset of the catalog with its paths, which never change. */
export interface CoverImage {
  readonly id: string
  readonly path: string
  readonly thumbnailPath: string
}

const StoredAsset = z.object({ id: Id, path: z.string(), thumbnail_path: z.string().nullable() })

/**
 * Reads an asset from the catalog, in the workspace of the request; undefined without an id. Throws `unprocessable` if
 * it is no picture, `service_unavailable` without catalog.
 */
export async function findCoverImage(
  catalog: InternalCalls,
  context: RequestContext,
  id: string | null | undefined,
): Promise<CoverImage | undefined> {
  if (!id) return undefined
  const asset = await readAsset(catalog, context, id)
  if (!asset?.thumbnail_path) throw noSuchPicture(id)
  return { id, path: asset.path, thumbnailPath: asset.thumbnail_path }
}

/** Returns undefined for an asset that the workspace does not have. */
async function readAsset(catalog: InternalCalls, caller: RequestContext, id: string) {
  try {
    const { statusCode, body } = await catalog.request({ caller, method: 'GET', path: `/internal/assets/${id}` })
    if (statusCode === 404) return undefined
    if (statusCode === 200) return StoredAsset.parse(body)
    throw new Error(`the catalog answered ${statusCode}`)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('service_unavailable', 'The service is unavailable for the moment; try again', { cause })
  }
}

const noSuchPicture = (id: string) =>
  unprocessable(['image'], `this workspace has no picture ${id}; upload it with POST /v1/assets`, 'unknown_reference')
