import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ByteRange, FileStorage } from './file-storage.ts'
import { openIncoming } from './incoming-files.ts'
import { throwUnavailable } from './storage-errors.ts'

/** Milliseconds for a connection, and for a request without its body: the start of a download, or a removal. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true }
const MIB = 1024 * 1024

/** How long the upload of so many bytes may take, in milliseconds: at least 1 MiB a second is expected. */
const uploadWithinMs = (bytes: number) => TIMEOUTS.requestTimeout + Math.ceil(bytes / MIB) * 1_000

export interface S3Options {
  /** The name of the component, and of the folder that receives files for the bucket. */
  readonly name: string
  readonly bucket: string
  readonly region: string
  /** The URL of a server with the S3 protocol; Amazon's unless given. */
  readonly endpoint: string | undefined
  /** Of the bucket; those that the SDK finds unless given. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
}

/** Keeps files of up to 5 GiB in a bucket. The SDK is loaded when first needed: it takes 30 MB (decision 012). */
export class S3Storage implements FileStorage {
  readonly name: string
  readonly incoming: string
  readonly #bucket: string
  readonly #server: Omit<S3Options, 'name' | 'bucket'>
  #opening: ReturnType<typeof connect> | undefined

  constructor({ name, bucket, ...server }: S3Options) {
    this.name = name
    this.incoming = join(tmpdir(), `backoffice-${name}`)
    this.#bucket = bucket
    this.#server = server
  }

  start(): Promise<void> {
    return openIncoming(this.incoming)
  }

  async put(path: string, file: string, type: string): Promise<number> {
    const { sdk, client } = await this.#open()
    const { size } = await stat(file)
    const Body = createReadStream(file)
    // The SDK does not listen for the errors of a body.
    const broken = new AbortController()
    Body.once('error', (error) => broken.abort(error))
    const object = { Bucket: this.#bucket, Key: path, Body, ContentLength: size, ContentType: type }
    const options = { requestTimeout: uploadWithinMs(size), abortSignal: broken.signal }
    await client
      .send(new sdk.PutObjectCommand(object), options)
      .catch(throwUnavailable)
      .finally(() => Body.destroy())
    return size
  }

  async size(path: string): Promise<number | undefined> {
    const { sdk, client } = await this.#open()
    const head = new sdk.HeadObjectCommand({ Bucket: this.#bucket, Key: path })
    const missing = (error: Error) => (isMissing(error) ? undefined : throwUnavailable(error))
    return (await client.send(head).catch(missing))?.ContentLength
  }

  async read(path: string, range?: ByteRange): Promise<Readable> {
    const { sdk, client } = await this.#open()
    const Range = range && `bytes=${range.start}-${range.end}`
    const get = new sdk.GetObjectCommand({ Bucket: this.#bucket, Key: path, ...(Range && { Range }) })
    const { Body } = await client.send(get).catch((error: Error) => {
      if (isMissing(error)) throw error
      return throwUnavailable(error)
    })
    return Body as Readable
  }

  async remove(paths: readonly string[]): Promise<void> {
    const { sdk, client } = await this.#open()
    for (const Key of paths)
      await client.send(new sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key })).catch(throwUnavailable)
  }

  async countFiles(folder: string, atMost: number): Promise<number> {
    return (await this.#filesOf(folder, atMost)).length
  }

  async removeFolder(folder: string): Promise<void> {
    // A server answers with 1,000 names at most.
    for (let paths = await this.#filesOf(folder, 1000); paths.length > 0; paths = await this.#filesOf(folder, 1000))
      await this.remove(paths)
  }

  async stop(): Promise<void> {
    if (this.#opening) (await this.#opening).client.destroy()
  }

  #open(): ReturnType<typeof connect> {
    this.#opening ??= connect(this.#server)
    return this.#opening
  }

  async #filesOf(folder: string, atMost: number): Promise<string[]> {
    const { sdk, client } = await this.#open()
    const list = new sdk.ListObjectsV2Command({ Bucket: this.#bucket, Prefix: `${folder}/`, MaxKeys: atMost })
    const { Contents = [] } = await client.send(list).catch(throwUnavailable)
    return Contents.flatMap(({ Key }) => Key ?? [])
  }
}

async function connect({ endpoint, region, credentials }: Omit<S3Options, 'name' | 'bucket'>) {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region,
    ...(credentials && { credentials }),
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: 2,
    requestHandler: TIMEOUTS,
    // Not every server with the S3 protocol knows the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  return { sdk, client }
}

const isMissing = (error: Error) => error.name === 'NotFound' || error.name === 'NoSuchKey'
