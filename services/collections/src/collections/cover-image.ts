import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { inCallSpan } from '@backoffice/http/call-span.ts'
import { INTERNAL_TOKEN_HEADER, type RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import { z } from 'zod'

/** A cover image: an asset of the catalog with its paths, which never change. */
export interface CoverImage {
  readonly id: string
  readonly path: string
  readonly thumbnailPath: string
}

/**
 * Finds the picture with the id that a request has as `image`; undefined without an id. Throws `unprocessable` for an
 * unknown asset or one that is not a picture, and `service_unavailable` while the catalog does not answer.
 */
export type FindCoverImage = (context: RequestContext, id: string | null | undefined) => Promise<CoverImage | undefined>

const TIMEOUT_MS = 5000

const StoredAsset = z.object({ id: Id, path: z.string(), thumbnail_path: z.string().nullable() })

/** Reads assets from the catalog's API, in the workspace of the request. */
export const coverImages =
  (catalogUrl: string, signer: TokenSigner): FindCoverImage =>
  async (context, id) => {
    if (!id) return undefined
    const asset = await readAsset(`${catalogUrl}/internal/assets/${id}`, context, signer)
    if (!asset?.thumbnail_path) throw noSuchPicture(id)
    return { id, path: asset.path, thumbnailPath: asset.thumbnail_path }
  }

/** Returns undefined for an asset that the workspace does not have. */
async function readAsset(url: string, context: RequestContext, signer: TokenSigner) {
  const token = await signer.ownCall(context, 'catalog', new Date())
  const { requestId, traceparent } = context
  const headers = { [INTERNAL_TOKEN_HEADER]: token, 'x-request-id': requestId }
  try {
    const { statusCode, body } = await inCallSpan({ service: 'catalog', method: 'GET', traceparent }, async (trace) => {
      const response = await fetch(url, { headers: { ...headers, ...trace }, signal: AbortSignal.timeout(TIMEOUT_MS) })
      return { statusCode: response.status, body: (await response.json()) as unknown }
    })
    if (statusCode === 404) return undefined
    if (statusCode === 200) return StoredAsset.parse(body)
    throw new Error(`the catalog answered ${statusCode}`)
  } catch (cause) {
    throw new ApiError('service_unavailable', 'The service is unavailable for the moment; try again', { cause })
  }
}

const noSuchPicture = (id: string) =>
  unprocessable(['image'], `this workspace has no picture ${id}; upload it with POST /v1/assets`)
