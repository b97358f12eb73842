import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { deadline } from '@backoffice/runtime/deadline.ts'
import type { ByteRange, FileStorage } from './file-storage.ts'
import { openIncoming } from './incoming-files.ts'
import { throwUnavailable } from './storage-errors.ts'
import type { S3Server } from './storage-settings.ts'

/** Milliseconds for a connection, and for a request without its body: the start of a download, or a removal. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true }
const MIB = 1024 * 1024

/** How long the upload of so many bytes may take, in milliseconds: at least 1 MiB a second is expected. */
const uploadWithinMs = (bytes: number) => TIMEOUTS.requestTimeout + Math.ceil(bytes / MIB) * 1_000

/** Milliseconds before a failed upload is sent again. The SDK repeats no request whose body is a stream. */
const UPLOAD_PAUSES_MS = [200, 1_000]
/** A download has its connection until the client has it all; the services' slots bound the downloads. */
const AGENT = { maxSockets: 1024 }
const ignore = () => undefined
/** Failures are thrown. The SDK would also write to the console, between the log's lines. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Keeps files of up to 5 GiB in a bucket. The SDK is loaded when first needed: it takes 30 MB (decision 012). */
export class S3Storage implements FileStorage {
  readonly name: string
  readonly incoming: string
  readonly #bucket: string
  readonly #server: S3Server
  readonly #silentMs: number
  #opening: ReturnType<typeof connect> | undefined

  /**
   * The folder that receives files for the bucket is named after the component. A download fails when nothing of it
   * comes for `silentMs` while it is read, and an upload when nothing of it is taken for so long.
   */
  constructor(name: string, bucket: string, server: S3Server, silentMs = TIMEOUTS.requestTimeout) {
    this.name = name
    this.incoming = join(tmpdir(), `backoffice-${name}`)
    this.#bucket = bucket
    this.#server = server
    this.#silentMs = silentMs
  }

  start(): Promise<void> {
    return openIncoming(this.incoming)
  }

  async put(path: string, file: string, type: string, signal?: AbortSignal): Promise<number> {
    const { size } = await stat(file)
    const inTime = AbortSignal.timeout(uploadWithinMs(size))
    const given = AbortSignal.any([inTime, ...(signal ? [signal] : [])])
    for (let attempts = 0; ; attempts++) {
      const broken = new AbortController()
      const abortSignal = AbortSignal.any([broken.signal, given])
      try {
        await this.#upload({ path, file, size, type }, broken, abortSignal)
        return size
      } catch (error) {
        const wait = UPLOAD_PAUSES_MS[attempts]
        if (wait === undefined || abortSignal.aborted || !mayPass(error as Failure)) throwUnavailable(error as Error)
        await pause(wait, undefined, { signal: given }).catch(() => throwUnavailable(error as Error))
      }
    }
  }

  async size(path: string): Promise<number | undefined> {
    const s3 = await this.#open()
    const missing = (error: Error) => (isMissing(error) ? undefined : throwUnavailable(error))
    return (await s3.headObject(this.#at(path)).catch(missing))?.ContentLength
  }

  async read(path: string, range?: ByteRange): Promise<Readable> {
    const s3 = await this.#open()
    const Range = range && `bytes=${range.start}-${range.end}`
    const { Body } = await s3.getObject({ ...this.#at(path), ...(Range && { Range }) }).catch((error: Error) => {
      if (isMissing(error)) throw error
      return throwUnavailable(error)
    })
    return unlessSilent(Body as Readable, this.#silentMs)
  }

  async remove(paths: readonly string[]): Promise<void> {
    const s3 = await this.#open()
    for (const path of paths) await s3.deleteObject(this.#at(path)).catch(throwUnavailable)
  }

  async countFiles(folder: string, atMost: number): Promise<number> {
    return (await this.#filesOf(folder, atMost)).length
  }

  async removeFolder(folder: string): Promise<void> {
    let last: string | undefined
    for (let paths = await this.#filesOf(folder, 1000); paths.length > 0; paths = await this.#filesOf(folder, 1000)) {
      if (paths[0] === last) throwUnavailable(new Error('the bucket still lists what it has removed'))
      await this.remove(paths)
      last = paths[0]
    }
  }

  async stop(): Promise<void> {
    if (this.#opening) (await this.#opening).destroy()
  }

  #open(): ReturnType<typeof connect> {
    // After a failure the next use tries again.
    this.#opening ??= connect(this.#server).catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #upload({ path, file, size, type }: Upload, broken: AbortController, abortSignal: AbortSignal) {
    const s3 = await this.#open()
    const abort = (error: Error) => broken.abort(error)
    const Body = Readable.from(unlessLeft(file, this.#silentMs, abort), { objectMode: false })
    // The SDK does not listen for the errors of a body.
    Body.once('error', abort)
    const object = { ...this.#at(path), Body, ContentLength: size, ContentType: type }
    await s3.putObject(object, { requestTimeout: uploadWithinMs(size), abortSignal }).finally(() => Body.destroy())
  }

  #at(path: string) {
    return { Bucket: this.#bucket, Key: path }
  }

  async #filesOf(folder: string, atMost: number): Promise<string[]> {
    const s3 = await this.#open()
    const paths: string[] = []
    let ContinuationToken: string | undefined
    // A server answers with 1,000 names at most.
    do {
      const MaxKeys = Math.min(atMost - paths.length, 1000)
      const list = { Bucket: this.#bucket, Prefix: `${folder}/`, MaxKeys, ContinuationToken }
      const { Contents = [], NextContinuationToken } = await s3.listObjectsV2(list).catch(throwUnavailable)
      paths.push(...Contents.flatMap(({ Key }) => Key ?? []))
      ContinuationToken = NextContinuationToken
    } while (ContinuationToken !== undefined && paths.length < atMost)
    return paths
  }
}

/** The content of a file to upload. `onLeft` is called when nothing of it is taken for so long: a server may hang. */
async function* unlessLeft(file: string, silentMs: number, onLeft: (error: Error) => void) {
  for await (const chunk of createReadStream(file)) {
    const taken = deadline(silentMs, () => onLeft(new Error(`nothing was taken for ${silentMs} ms`)))
    try {
      yield chunk
    } finally {
      taken()
    }
  }
}

/** A body that fails when nothing of it comes for so long while it is read: a server may hang and close nothing. */
function unlessSilent(body: Readable, silentMs: number): Readable {
  async function* chunks() {
    const heard = () => deadline(silentMs, () => body.destroy(new Error(`nothing came for ${silentMs} ms`)))
    let end = heard()
    try {
      for await (const chunk of body) {
        end()
        yield chunk
        end = heard()
      }
    } catch (error) {
      throwUnavailable(error as Error)
    } finally {
      end()
    }
  }
  const read = Readable.from(chunks(), { objectMode: false })
  // Also while the generator waits for a chunk.
  return read.once('close', () => body.destroy())
}

async function connect(server: S3Server) {
  const { S3_ENDPOINT: endpoint, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = server
  const sessionToken = server.AWS_SESSION_TOKEN
  const { S3 } = await import('@aws-sdk/client-s3')
  return new S3({
    region: server.S3_REGION,
    ...(accessKeyId &&
      secretAccessKey && { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }),
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: 2,
    requestHandler: { ...TIMEOUTS, httpAgent: AGENT, httpsAgent: AGENT },
    logger: SILENT,
    // Not every server with the S3 protocol knows the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

interface Upload {
  readonly path: string
  readonly file: string
  readonly size: number
  readonly type: string
}

type Failure = Error & { readonly $metadata?: { readonly httpStatusCode?: number } }

/** Whether an upload may succeed at once: the server was busy or broken, or the connection was. */
const mayPass = ({ $metadata }: Failure) => {
  const status = $metadata?.httpStatusCode
  return status === undefined || status === 429 || status >= 500
}

const isMissing = (error: Error) => error.name === 'NotFound' || error.name === 'NoSuchKey'
