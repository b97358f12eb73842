import type { FileStorage } from './file-storage.ts'
import { localStorage } from './local-storage.ts'
import { s3Storage } from './s3-storage.ts'

/** Where files are kept: in a bucket, else in a directory. The SDK reads credentials from its own variables (`AWS_…`). */
export interface StorageOptions {
  /** The name of the component, and of the folder that receives files for a bucket. */
  readonly name: string
  readonly directory: string | undefined
  readonly bucket: string | undefined
  /** The URL of a server with the S3 protocol; Amazon's unless given. */
  readonly endpoint: string | undefined
  readonly region: string
}

/** Opens a storage. Throws when neither a directory nor a bucket is given. */
export function openStorage({ name, directory, bucket, endpoint, region }: StorageOptions): FileStorage {
  if (bucket) return s3Storage({ name, bucket, region, endpoint })
  if (directory) return localStorage({ name, directory })
  throw new Error(`${name}: no directory and no bucket for files is set`)
}
