import { createHash, type Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { Busboy, type BusboyInstance } from '@fastify/busboy'

/** The file that an operation takes, in a form, instead of a JSON body (OP-21). */
export interface UploadDeclaration {
  readonly member: string
  /** A larger file is refused with `payload_too_large`. */
  readonly maxBytes: number
  /** What such a file has in it, as the OpenAPI document shows it. */
  readonly example: string
}

export interface UploadedFile {
  /** The client's name for it, without folders. */
  readonly name: string
  /** The media type that the client sent. */
  readonly declaredType: string
  /** The file has at least so many bytes, by the Content-Length; 0 without one. Known before the file is received. */
  readonly leastBytes: number
  /** Ends only after the whole request was found well-formed; it may fail before, so use nothing of it until then. */
  readonly content: Readable
  /** SHA-256 of the content, which must have been read to its end. */
  digest(): string
  /** Fails the content, which does not wait for the client any longer. */
  fail(error: Error): void
}

interface ReceivedForm {
  /** Its text members, all of them before the file. */
  readonly members: Readonly<Record<string, string>>
  readonly file: UploadedFile
}

/** Limits of a form besides its file: its text members and the headers of its parts. */
const REST_BYTES = LIMITS.bodyBytes
const TEXT_LIMITS = { fields: 32, parts: 64, fieldSize: 16 * 1024, headerPairs: 32, headerSize: 8 * 1024 }

/** The largest size of a request with a file of at most `maxBytes`. */
export const uploadBytes = (maxBytes: number): number => maxBytes + REST_BYTES

/** Throws `unsupported_media_type` unless the content type is a form (OP-21). */
export function refuseOtherThanForm(contentType: string | undefined): void {
  if (/^multipart\/form-data(?:;|\s|$)/i.test(contentType ?? '')) return
  throw new ApiError('unsupported_media_type', 'Content-Type: must be multipart/form-data')
}

/**
 * Reads a form up to its file, whose content is streamed later. Throws `bad_request` for a form that is malformed or
 * has no such file, and `payload_too_large`. Call `dropRest` after the request has been answered.
 */
export function receiveForm(
  request: IncomingMessage,
  { member, maxBytes }: Omit<UploadDeclaration, 'example'>,
): Promise<ReceivedForm> {
  const tooLarge = new ApiError('payload_too_large', `${member}: is larger than ${maxBytes} bytes`)
  const formBytes = Number(request.headers['content-length'] ?? 0)
  if (formBytes > uploadBytes(maxBytes)) throw tooLarge
  const leastBytes = Math.max(0, formBytes - REST_BYTES)
  const form = openForm(request)
  const begun = Promise.withResolvers<ReceivedForm>()
  const whole = Promise.withResolvers<void>()
  whole.promise.catch(() => undefined)
  const members = new Map<string, string>()
  let part: Readable | undefined
  const fail = (error: Error) => {
    begun.reject(error)
    whole.reject(error)
    part?.destroy(error)
  }
  form.on('field', (name, value, _isNameCut, isCut) => {
    if (name === member) fail(badRequest([member], 'must be a file, sent with a file name'))
    else if (part !== undefined) fail(badRequest([name], `no member may come after ${member}`))
    else if (members.has(name)) fail(badRequest([name], 'is there twice'))
    else if (isCut) fail(badRequest([name], `is longer than ${TEXT_LIMITS.fieldSize} bytes`))
    else members.set(name, value)
  })
  form.on('file', (name, stream, fileName, _encoding, declaredType) => {
    // The error comes through `whole`.
    stream.on('error', () => undefined)
    if (name !== member) return fail(badRequest([name], 'unknown member'))
    if (part !== undefined) return fail(badRequest([member], 'is there twice; send one file'))
    part = stream
    const hash = createHash('sha256')
    const limit = { maxBytes, tooLarge }
    const content = Readable.from(contentOf(stream, limit, hash, whole.promise), { objectMode: false })
    const digest = () => {
      if (!content.readableEnded) throw new Error(`the digest of ${member} is not known before its end`)
      return hash.copy().digest('base64')
    }
    const file = { name: fileName, declaredType, leastBytes, content, digest, fail }
    begun.resolve({ members: Object.fromEntries(members), file })
  })
  for (const limit of ['partsLimit', 'fieldsLimit'] as const) {
    form.on(limit, () => fail(badRequest(['body'], `has more than ${TEXT_LIMITS.fields} members`)))
  }
  form.on('error', () => fail(badRequest(['body'], 'is not well-formed multipart/form-data')))
  form.on('finish', () => {
    begun.reject(badRequest([member], 'is missing'))
    whole.resolve()
  })
  request.once('close', () => {
    if (!request.readableEnded) fail(badRequest(['body'], 'the connection was closed before its end'))
  })
  request.pipe(form)
  return begun.promise
}

/** Reads and drops the rest of a request, so that the client receives its answer. */
export function dropRest(request: IncomingMessage): void {
  request.unpipe()
  request.resume()
}

function openForm(request: IncomingMessage): BusboyInstance {
  const { headers } = request
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: TEXT_LIMITS,
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    })
  } catch {
    throw badRequest(['Content-Type'], 'names no boundary')
  }
}

/** The content of a part, which fails when it is too large. Ends when the whole form was found well-formed. */
async function* contentOf(
  part: Readable,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: ApiError },
  hash: Hash,
  whole: Promise<void>,
): AsyncGenerator<Buffer> {
  let size = 0
  try {
    for await (const chunk of part) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge
      hash.update(chunk)
      yield chunk
    }
  } catch (error) {
    // For a truncated part, the parser throws its own error after `whole` has failed with ours.
    if (!(error instanceof ApiError)) await whole
    throw error
  }
  await whole
}
