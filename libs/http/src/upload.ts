import { createHash, type Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { Busboy, type BusboyInstance } from '@fastify/busboy'

/** The file that an operation takes, in a form, instead of a JSON body (OP-21). */
export interface UploadDeclaration {
  /** The member of the form that is the file. */
  readonly member: string
  /** Of the file: a longer one is `payload_too_large`. */
  readonly maxBytes: number
}

/** An uploaded file as it arrives. */
export interface UploadedFile {
  /** As the client calls it, without folders. */
  readonly name: string
  /** The media type the client says it has. */
  readonly declaredType: string
  /**
   * Its bytes. They end only when the whole request has been found well-formed; until then they may fail with
   * `payload_too_large` or `bad_request`, so nothing counts before their end.
   */
  readonly content: Readable
  /** SHA-256 of the content, which must have been read to its end. */
  digest(): string
}

/** A form that has been read up to its file. */
interface ReceivedForm {
  /** Its text members, all of them before the file. */
  readonly members: Readonly<Record<string, string>>
  readonly file: UploadedFile
}

/** What a form may hold besides its file: text members, and the headers of its parts. */
const REST_BYTES = LIMITS.bodyBytes
const TEXT_LIMITS = { fields: 32, parts: 64, fieldSize: 16 * 1024, headerPairs: 32, headerSize: 8 * 1024 }

/** The most bytes that a request with a file of at most `maxBytes` has. */
export const uploadBytes = (maxBytes: number): number => maxBytes + REST_BYTES

/** Throws `unsupported_media_type` for what is no form (OP-21). */
export function refuseOtherThanForm(contentType: string | undefined): void {
  if (/^multipart\/form-data(?:;|\s|$)/i.test(contentType ?? '')) return
  throw new ApiError('unsupported_media_type', 'Content-Type: must be multipart/form-data')
}

/**
 * Reads a form up to its file, whose content is still to come: memory does not grow with its size. Throws `bad_request`
 * for a form that is malformed or has no such file, `payload_too_large` when Content-Length says so. When the request is
 * done with, what was not read of it goes to `dropRest`.
 */
export function receiveForm(request: IncomingMessage, { member, maxBytes }: UploadDeclaration): Promise<ReceivedForm> {
  const tooLarge = new ApiError('payload_too_large', `${member}: is larger than ${maxBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > uploadBytes(maxBytes)) throw tooLarge
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
    if (name === member) fail(badRequest(`${member}: must be a file, sent with a file name`))
    else if (part !== undefined) fail(badRequest(`${name}: no member may come after ${member}`))
    else if (members.has(name)) fail(badRequest(`${name}: is there twice`))
    else if (isCut) fail(badRequest(`${name}: is longer than ${TEXT_LIMITS.fieldSize} bytes`))
    else members.set(name, value)
  })
  form.on('file', (name, stream, fileName, _encoding, declaredType) => {
    // How it fails is told by `whole`.
    stream.on('error', () => undefined)
    if (name !== member) return fail(badRequest(`${name}: unknown member`))
    if (part !== undefined) return fail(badRequest(`${member}: is there twice; send one file`))
    part = stream
    const hash = createHash('sha256')
    const bytes = limitedBytes(stream, maxBytes, tooLarge)
    const content = Readable.from(contentOf(bytes, hash, whole.promise), { objectMode: false })
    const digest = () => {
      if (!content.readableEnded) throw new Error(`the digest of ${member} is not known before its end`)
      return hash.copy().digest('base64')
    }
    begun.resolve({ members: Object.fromEntries(members), file: { name: fileName, declaredType, content, digest } })
  })
  for (const limit of ['partsLimit', 'fieldsLimit'] as const) {
    form.on(limit, () => fail(badRequest(`body: has more than ${TEXT_LIMITS.fields} members`)))
  }
  form.on('error', () => fail(badRequest('body: is not well-formed multipart/form-data')))
  form.on('finish', () => {
    begun.reject(badRequest(`${member}: is missing`))
    whole.resolve()
  })
  request.once('close', () => {
    if (!request.readableEnded) fail(badRequest('body: the connection was closed before its end'))
  })
  request.pipe(form)
  return begun.promise
}

/** Takes and drops what has not been read of a request, so that the client gets to its answer. */
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
    throw badRequest('Content-Type: names no boundary')
  }
}

async function* limitedBytes(part: Readable, maxBytes: number, tooLarge: ApiError): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of part) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge
    yield chunk
  }
}

async function* contentOf(bytes: AsyncGenerator<Buffer>, hash: Hash, whole: Promise<void>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of bytes) {
      hash.update(chunk)
      yield chunk
    }
  } catch (error) {
    // A part that is cut short fails in the parser's own words, after `whole` has failed in ours.
    if (!(error instanceof ApiError)) await whole
    throw error
  }
  await whole
}
