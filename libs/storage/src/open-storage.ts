import type { FileStorage } from './file-storage.ts'
import { localStorage } from './local-storage.ts'
import { type S3Credentials, s3Storage } from './s3-storage.ts'

/** Where files are kept: in a bucket, else in a directory. */
export interface StorageOptions {
  /** The name of the component, and of the folder that receives files for a bucket. */
  readonly name: string
  readonly directory: string | undefined
  readonly bucket: string | undefined
  /** The URL of a server with the S3 protocol; Amazon's unless given. */
  readonly endpoint: string | undefined
  readonly region: string
  /** Of the bucket; those that the SDK finds unless given. */
  readonly credentials?: S3Credentials | undefined
}

/** Opens a storage. Throws when neither a directory nor a bucket is given. */
export function openStorage({ directory, bucket, ...options }: StorageOptions): FileStorage {
  if (bucket) return s3Storage({ ...options, bucket })
  if (directory) return localStorage({ name: options.name, directory })
  throw new Error(`${options.name}: no directory and no bucket for files is set`)
}
