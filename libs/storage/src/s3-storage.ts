import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import type { FileStorage } from './file-storage.ts'
import { openIncoming } from './incoming-files.ts'
import { throwUnavailable } from './storage-errors.ts'

/** Milliseconds for a connection, and for a request without its body: the start of a download, or a removal. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true }
const MIB = 1024 * 1024

/** How long the upload of so many bytes may take, in milliseconds: at least 1 MiB a second is expected. */
const uploadWithinMs = (bytes: number) => TIMEOUTS.requestTimeout + Math.ceil(bytes / MIB) * 1_000

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

interface S3Options {
  readonly name: string
  readonly bucket: string
  readonly region: string
  readonly endpoint: string | undefined
  readonly credentials?: S3Credentials | undefined
}

/**
 * Keeps files of up to 5 GiB in a bucket, on the server at the URL `endpoint` or on Amazon's. The SDK is loaded when
 * first needed, to save an idle service its 30 MB (decision 012).
 */
export function s3Storage({ name, bucket, ...server }: S3Options): FileStorage {
  const incoming = join(tmpdir(), `backoffice-${name}`)
  let opening: Promise<{ sdk: typeof Sdk; client: Sdk.S3Client }> | undefined
  const open = () => (opening ??= connect(server))
  const filesOf = async (folder: string, atMost: number) => {
    const { sdk, client } = await open()
    // A server answers with 1,000 names at most.
    const list = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: `${folder}/`, MaxKeys: atMost })
    const { Contents = [] } = await client.send(list).catch(throwUnavailable)
    return Contents.flatMap(({ Key }) => Key ?? [])
  }
  const remove = async (paths: readonly string[]) => {
    const { sdk, client } = await open()
    for (const path of paths)
      await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: path })).catch(throwUnavailable)
  }
  return {
    name,
    incoming,
    start: () => openIncoming(incoming),
    async put(path, file, type) {
      const { sdk, client } = await open()
      const { size } = await stat(file)
      const Body = createReadStream(file)
      // The SDK does not listen for the errors of a body.
      const broken = new AbortController()
      Body.once('error', (error) => broken.abort(error))
      const command = new sdk.PutObjectCommand({
        Bucket: bucket,
        Key: path,
        Body,
        ContentLength: size,
        ContentType: type,
      })
      const options = { requestTimeout: uploadWithinMs(size), abortSignal: broken.signal }
      await client
        .send(command, options)
        .catch(throwUnavailable)
        .finally(() => Body.destroy())
      return size
    },
    async size(path) {
      const { sdk, client } = await open()
      const head = new sdk.HeadObjectCommand({ Bucket: bucket, Key: path })
      const missing = (error: Error) => (isMissing(error) ? undefined : throwUnavailable(error))
      return (await client.send(head).catch(missing))?.ContentLength
    },
    async read(path, range) {
      const { sdk, client } = await open()
      const Range = range && `bytes=${range.start}-${range.end}`
      const get = new sdk.GetObjectCommand({ Bucket: bucket, Key: path, ...(Range && { Range }) })
      const { Body } = await client.send(get).catch((error: Error) => {
        if (isMissing(error)) throw error
        return throwUnavailable(error)
      })
      return Body as Readable
    },
    remove,
    countFiles: async (folder, atMost) => (await filesOf(folder, atMost)).length,
    async removeFolder(folder) {
      for (let paths = await filesOf(folder, 1000); paths.length > 0; paths = await filesOf(folder, 1000))
        await remove(paths)
    },
    async stop() {
      if (opening) (await opening).client.destroy()
    },
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
