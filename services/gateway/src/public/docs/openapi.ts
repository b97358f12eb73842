import { ApiError } from '@backoffice/contracts/errors.ts'
import { inCallSpan } from '@backoffice/http/call-span.ts'
import { openApiDocument } from '@backoffice/http/openapi.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import { type FileInMemory, fileInMemory } from '../proxy/file-in-memory.ts'
import { EACH_ANSWER_MS } from '../upstreams/ask-service.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { mergeDocuments, type PartialDocument } from './merge-documents.ts'

/** A merged document is served for this time, then the services are asked again. */
const FRESH_MS = 10_000
/** A failure is answered for this time: to merge takes the event loop, and anybody may ask. */
const FAILED_MS = 2_000

export interface DocumentOptions {
  /** The gateway's own operations. */
  readonly own: readonly AnyOperation[]
  /** The address of the API, which the document names. */
  readonly server: string
  readonly clock: () => Date
  /** How long a service may take to tell its part, in milliseconds; EACH_ANSWER_MS unless given. */
  readonly partWithinMs?: number
}

/**
 * The API's OpenAPI document, merged from the documents of the services and the gateway's own operations, and kept for
 * 10 s. A service that does not answer is described by its last known part. Throws `service_unavailable` when there is
 * none, since a document without it would look complete, and while two services differ in a schema, as during a deploy.
 */
export function mergedDocument(
  upstreams: readonly Upstream[],
  { own, server, clock, partWithinMs = EACH_ANSWER_MS }: DocumentOptions,
): () => Promise<FileInMemory> {
  const lastParts = new Map<Upstream, PartialDocument>()
  let merged: { readonly document: Promise<FileInMemory>; readonly at: number; readonly forMs: number } | undefined
  /** Kept with its compressed forms until the document is another one. */
  let file: FileInMemory | undefined

  async function partOf(upstream: Upstream): Promise<PartialDocument> {
    try {
      const part = await fetchPart(upstream, AbortSignal.timeout(partWithinMs))
      lastParts.set(upstream, part)
      return part
    } catch (error) {
      const last = lastParts.get(upstream)
      if (last === undefined) throw error
      return last
    }
  }

  async function merge(): Promise<FileInMemory> {
    const parts = await Promise.all(upstreams.map(partOf))
    try {
      const document = mergeDocuments([...parts, openApiDocument(own) as unknown as PartialDocument], server)
      const content = Buffer.from(JSON.stringify(document))
      if (!file?.content.equals(content)) file = fileInMemory('application/json; charset=utf-8', content)
      return file
    } catch (cause) {
      throw new ApiError('service_unavailable', 'the services do not describe the API alike now', { cause })
    }
  }

  return () => {
    const now = clock().getTime()
    // Also not after a clock that was ahead.
    if (merged !== undefined && Math.abs(now - merged.at) < merged.forMs) return merged.document
    const document = merge()
    merged = { document, at: now, forMs: FRESH_MS }
    document.catch(() => {
      if (merged?.document === document) merged = { document, at: clock().getTime(), forMs: FAILED_MS }
    })
    return document
  }
}

async function fetchPart(upstream: Upstream, signal: AbortSignal): Promise<PartialDocument> {
  try {
    const { statusCode, body } = await inCallSpan({ service: upstream.name, method: 'GET' }, (headers) =>
      upstream.send({ owner: 'documentation', method: 'GET', path: '/openapi.json', headers: { ...headers }, signal }),
    )
    const answer = await body.json()
    if (statusCode !== 200) throw new Error(`${upstream.name} answered ${statusCode}`)
    return answer as PartialDocument
  } catch (cause) {
    throw new ApiError('service_unavailable', `${upstream.name} does not tell its operations now`, { cause })
  }
}
