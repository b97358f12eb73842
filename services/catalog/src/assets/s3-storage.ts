import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { openIncoming } from './incoming-files.ts'
import type { AssetStorage } from './storage.ts'

interface S3Options {
  readonly bucket: string
  /** Of a server that speaks S3; Amazon's own unless given. */
  readonly endpoint: string | undefined
  readonly region: string
}

/** How long the server is waited for, to connect and for a whole file to be taken or the start of one to come. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true }

/** Keeps files in a bucket. The SDK is loaded when first needed: an idle service has no use for its 30 MB. */
export function s3Storage({ bucket, endpoint, region }: S3Options): AssetStorage {
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
      await client.send(new sdk.PutObjectCommand(command)).catch(away)
      return size
    },
    async size(path) {
      const { sdk, client } = await open()
      const head = new sdk.HeadObjectCommand({ Bucket: bucket, Key: path })
      const found = await client.send(head).catch((error: Error) => (isMissing(error) ? undefined : away(error)))
      return found?.ContentLength
    },
    async read(path, { start, end }) {
      const { sdk, client } = await open()
      const get = new sdk.GetObjectCommand({ Bucket: bucket, Key: path, Range: `bytes=${start}-${end}` })
      const { Body } = await client.send(get).catch(away)
      return Body as Readable
    },
    async remove(paths) {
      const { sdk, client } = await open()
      for (const path of paths)
        await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: path })).catch(away)
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
    // Servers other than Amazon's do not all know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  return { sdk, client }
}

const isMissing = (error: Error) => error.name === 'NotFound' || error.name === 'NoSuchKey'

function away(error: Error): never {
  throw new ApiError('service_unavailable', 'Files cannot be stored or read now; try again shortly', {
    cause: error,
    headers: { 'retry-after': '1' },
  })
}
