import type { FileStorage } from './file-storage.ts'
import { localStorage } from './local-storage.ts'
import { S3Storage } from './s3-storage.ts'
import type { S3Server } from './storage-settings.ts'

/** Where files are kept: in a bucket, else in a directory. */
interface Place {
  /** The name of the component. */
  readonly name: string
  readonly directory: string | undefined
  readonly bucket: string | undefined
}

/**
 * Opens a storage; `server` has the bucket. Throws when neither a directory nor a bucket is given, or a
 * token without its key.
 */
export function openStorage({ name, directory, bucket }: Place, server: S3Server): FileStorage {
  if (server.AWS_SESSION_TOKEN && !(server.AWS_ACCESS_KEY_ID && server.AWS_SECRET_ACCESS_KEY)) {
    throw new Error('AWS_SESSION_TOKEN is set without AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  if (bucket) return new S3Storage(name, bucket, server)
  if (directory) return localStorage({ name, directory })
  throw new Error(`${name}: no directory and no bucket for files is set`)
}
