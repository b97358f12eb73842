import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { INTERNAL_TOKEN_HEADER, type RequestContext } from '@backoffice/http/internal-token.ts'
import { z } from 'zod'

/** A cover image: a file of the catalog's, with where it is stored, which never changes. */
export interface CoverImage {
  readonly id: string
  readonly path: string
  readonly thumbnailPath: string
}

/**
 * Finds the picture that a collection's `image` names; undefined when none is named. Throws `unprocessable` for one the workspace
 * does not have, or that is no picture, and `service_unavailable` while the catalog does not answer.
 */
export type FindCoverImage = (context: RequestContext, id: string | null | undefined) => Promise<CoverImage | undefined>

const ANSWER_WITHIN_MS = 5000

const StoredAsset = z.object({ id: Id, path: z.string(), thumbnail_path: z.string().nullable() })

/** Asks the catalog, on behalf of whoever sends the request. */
export const coverImages =
  (catalogUrl: string): FindCoverImage =>
  async (context, id) => {
    if (!id) return undefined
    const asset = await ask(`${catalogUrl}/internal/assets/${id}`, context)
    if (!asset?.thumbnail_path) throw noSuchPicture(id)
    return { id, path: asset.path, thumbnailPath: asset.thumbnail_path }
  }

/** Undefined for an asset that the workspace does not have. */
async function ask(url: string, { token, requestId, traceparent }: RequestContext) {
  const headers = { [INTERNAL_TOKEN_HEADER]: token, 'x-request-id': requestId, traceparent }
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const body: unknown = await response.json()
    if (response.status === 404) return undefined
    if (response.ok) return StoredAsset.parse(body)
    throw new Error(`the catalog answered ${response.status}`)
  } catch (cause) {
    throw new ApiError('service_unavailable', 'The service is unavailable for the moment; try again', { cause })
  }
}

const noSuchPicture = (id: string) =>
  unprocessable(`image: this workspace has no picture ${id}; upload it with POST /v1/assets`)
