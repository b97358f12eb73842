import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { openIncoming } from './incoming-files.ts'
import type { AssetStorage } from './storage.ts'

/** Milliseconds for a connection, and for the upload of a whole file or the start of a download. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true }

/**
 * Keeps files in a bucket, on the server at the URL `endpoint` or on Amazon's. The SDK is loaded when first needed, to save an idle
 * service its 30 MB (decision 012).
 */
export function s3Storage(bucket: string, region: string, endpoint?: string): AssetStorage {
  const incoming = join(tmpdir(), 'backoffice-assets')
  let opening: Promise<{ sdk: typeof Sdk; client: Sdk.S3Client }> | undefined
  const open = () => (opening ??= connect(endpoint, region))
  return {
    name: 'assets',
    incoming,
    start: () => openIncoming(incoming),
    async put(path, file, type) {
      const { sdk, client } = await open()
      const { size } = await stat(file)
      const Body = createReadStream(file)
      const command = { Bucket: bucket, Key: path, Body, ContentLength: size, ContentType: type }
      await client.send(new sdk.PutObjectCommand(command)).catch(throwUnavailable)
      return size
    },
    async size(path) {
      const { sdk, client } = await open()
      const head = new sdk.HeadObjectCommand({ Bucket: bucket, Key: path })
      const missing = (error: Error) => (isMissing(error) ? undefined : throwUnavailable(error))
      return (await client.send(head).catch(missing))?.ContentLength
    },
    async read(path, { start, end }) {
      const { sdk, client } = await open()
      const get = new sdk.GetObjectCommand({ Bucket: bucket, Key: path, Range: `bytes=${start}-${end}` })
      const { Body } = await client.send(get).catch(throwUnavailable)
      return Body as Readable
    },
    async remove(paths) {
      const { sdk, client } = await open()
      for (const path of paths)
        await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: path })).catch(throwUnavailable)
    },
    async stop() {
      if (opening) (await opening).client.destroy()
    },
  }
}

async function connect(endpoint: string | undefined, region: string) {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    region,
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

function throwUnavailable(error: Error): never {
  throw new ApiError('service_unavailable', 'Files cannot be stored or read now; try again shortly', {
    cause: error,
    headers: { 'retry-after': '1' },
  })
}
